import type { Database } from '../connection.ts';
import type { Fields, Values } from '../fields.ts';

/** A resource with its id and what the server says of it. */
export interface Found {
  id: string;
  state: Values;
}

/** One type of resource: its properties as the real plugin declares them, and its SQL. */
export interface Kind {
  /** The interface of its arguments in the SDK. */
  args: string;
  fields: Fields;
  /** Properties that must be given, though the SDK calls them optional. */
  required?: readonly string[];
  /** A replacement removes the old one first. */
  deleteBeforeReplace?: true;
  /** It can be read by its id alone (`import`). */
  importable?: true;
  /** Makes it and says its id; `read` follows. */
  create(db: Database, plan: Values): Promise<string>;
  /** What the server has; undefined where it is gone. `state` holds what was known before. */
  read(db: Database, id: string, state: Values): Promise<Found | undefined>;
  /** Changes it; undefined where every change replaces it. `read` follows. */
  update?: (db: Database, id: string, olds: Values, plan: Values) => Promise<void>;
  delete(db: Database, id: string, state: Values): Promise<void>;
}

export const text = (values: Values, name: string): string => (values[name] ?? '') as string;
export const flag = (values: Values, name: string): boolean => values[name] === true;
export const number = (values: Values, name: string): number => (values[name] ?? 0) as number;
export const list = (values: Values, name: string): string[] => (values[name] ?? []) as string[];
