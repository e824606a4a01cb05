import type { Box } from '../../../src/workflow/layout.ts';

/** The pairs of boxes, by index, that share any point. */
export function overlaps(boxes: Box[]): [number, number][] {
  const pairs: [number, number][] = [];
  for (const [i, a] of boxes.entries()) {
    for (const [j, b] of boxes.entries()) {
      const apart =
        a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y;
      if (i < j && !apart) {
        pairs.push([i, j]);
      }
    }
  }
  return pairs;
}
