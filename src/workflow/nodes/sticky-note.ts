import type { NodeSpec } from '../types.ts';

/** The colours of n8n's sticky notes, by number. */
export const STICKY_COLOUR = { yellow: 1, brown: 2, red: 3, green: 4, blue: 5, purple: 6, grey: 7 } as const;

/** A sticky note: markdown, and a size in pixels. */
export interface StickyOptions {
  content: string;
  width: number;
  height: number;
  colour: keyof typeof STICKY_COLOUR;
}

/** A sticky note of the canvas. It runs nothing and has no ends. */
export function stickyNote({ content, width, height, colour }: StickyOptions): NodeSpec {
  return {
    type: 'n8n-nodes-base.stickyNote',
    typeVersion: 1,
    outputs: 0,
    parameters: { content, height, width, color: STICKY_COLOUR[colour] },
  };
}
