/** What `send` can break on purpose. */
export const TAMPERS = ['body', 'signature', 'time'] as const;
export type Tamper = (typeof TAMPERS)[number];
