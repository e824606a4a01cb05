import type { Policy, Props, ResourceRule } from './rule.ts';

/** The parts that most rules have in common. */
type Head = Pick<Policy, 'id' | 'title' | 'appliesTo' | 'level'>;

/** `mandatory('CKV_AWS_16', 'encrypted storage', [types.instance])` */
export const mandatory = (id: string, title: string, appliesTo: readonly string[]): Head => ({
  id,
  title,
  appliesTo,
  level: 'mandatory',
});

export const advisory = (id: string, title: string, appliesTo: readonly string[]): Head => ({
  ...mandatory(id, title, appliesTo),
  level: 'advisory',
});

/** A rule that one property decides. */
export function demand(
  head: Head,
  property: string,
  fits: (value: unknown, props: Props) => boolean,
): Policy {
  const check: ResourceRule['check'] = (props) =>
    fits(props[property], props) ? undefined : `${property} is ${show(props[property])}.`;
  return { ...head, scope: 'resource', check };
}

/** A value in a message; no list and no object, which could be long. */
function show(value: unknown): string {
  if (value === undefined || value === null) return 'missing';
  return typeof value === 'object' ? 'not what it should be' : JSON.stringify(value);
}

export const isTrue = (value: unknown): boolean => value === true;
export const isNotTrue = (value: unknown): boolean => value !== true;
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
export const atLeast = (least: number) => (value: unknown) => typeof value === 'number' && value >= least;
export const oneOf =
  (...words: unknown[]) =>
  (value: unknown) =>
    words.includes(value);

/** A list property; empty where it is missing. */
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A list of objects. */
export const objects = (value: unknown): Props[] =>
  list(value).filter((each): each is Props => typeof each === 'object' && each !== null);

export const holds = (word: string) => (value: unknown) => list(value).includes(word);
