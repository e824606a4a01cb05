import { canonical } from '../../workflow/serialise.ts';
import type { Json } from '../../workflow/types.ts';
import { fingerprint } from './fingerprint.ts';

/** The keys of a node that have rules of their own: identity, place, credentials, words. */
const APART = new Set(['id', 'name', 'position', 'credentials', 'notes', 'webhookId']);

/** One step of a path: a key of an object, or the name of an element of a list. */
type Step = { key: string } | { element: string };

/** The values of a node or of settings that are merged as a whole, by path. */
export type Leaves = Map<string, Json>;

/**
 * Every value of a node that can be merged by itself. Objects are gone into; a list is one value, unless each of
 * its elements has a name of its own: then each element is. Empty objects count as nothing, for n8n leaves them out.
 */
export function leavesOf(node: { [key: string]: Json }): Leaves {
  const leaves: Leaves = new Map();
  for (const [key, value] of Object.entries(node)) {
    if (!APART.has(key)) collect(value, [{ key }], leaves);
  }
  return leaves;
}

function collect(value: Json | undefined, steps: Step[], leaves: Leaves): void {
  if (value === undefined) return;
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) collect(inner, [...steps, { key }], leaves);
  } else if (Array.isArray(value) && areNamed(value)) {
    for (const element of value) {
      const path = [...steps, { element: String(element['name']) }];
      leaves.set(pathOf(path), element);
    }
  } else {
    leaves.set(pathOf(steps), value);
  }
}

function areNamed(list: Json[]): list is { [key: string]: Json }[] {
  const names = list.map((one) =>
    one !== null && typeof one === 'object' && !Array.isArray(one) ? one['name'] : undefined,
  );
  return (
    list.length > 0 &&
    names.every((name) => typeof name === 'string' && name !== '') &&
    new Set(names).size === list.length
  );
}

function pathOf(steps: Step[]): string {
  return steps
    .map((step, index) =>
      'key' in step ? `${index > 0 ? '.' : ''}${escaped(step.key)}` : `[${escaped(step.element)}]`,
    )
    .join('');
}

function escaped(text: string): string {
  return text.replace(/[\\.[\]]/g, '\\$&');
}

/** The steps of a path, as `leavesOf` wrote it. */
function stepsOf(path: string): Step[] {
  const parts = path.matchAll(/\[((?:\\.|[^\\\]])*)\]|(?:^|\.)((?:\\.|[^\\.[])*)/gs);
  return [...parts].map(([, element, key = '']) => {
    const plain = (element ?? key).replace(/\\(.)/gs, '$1');
    return element === undefined ? { key: plain } : { element: plain };
  });
}

/** The fingerprint of every leaf, by path: what a stamp keeps of a node. */
export function fingerprintsOf(leaves: Leaves): Record<string, string> {
  return Object.fromEntries([...leaves].map(([path, value]) => [path, fingerprint(canonical(value))]));
}

/** True where one path is the other or leads into it. */
export function within(path: string, outer: string): boolean {
  return path === outer || (path.startsWith(outer) && /[.[]/.test(path.charAt(outer.length)));
}

/** The value at a path, or undefined. */
export function valueAt(root: { [key: string]: Json }, path: string): Json | undefined {
  let value: Json | undefined = root;
  for (const step of stepsOf(path)) {
    if (value === null || typeof value !== 'object') return undefined;
    if ('key' in step) {
      value = Array.isArray(value) || !Object.hasOwn(value, step.key) ? undefined : value[step.key];
    } else {
      value = Array.isArray(value) ? value.find((one) => nameOf(one) === step.element) : undefined;
    }
  }
  return value;
}

/** Puts a value at a path, or removes what is there. Changes `root`. */
export function putAt(root: { [key: string]: Json }, path: string, value: Json | undefined): void {
  const steps = stepsOf(path);
  let holder: Json = root;
  for (const [index, step] of steps.entries()) {
    const last = index === steps.length - 1;
    const next = steps[index + 1];
    const empty = (): Json => (next && 'element' in next ? [] : {});
    if ('key' in step) {
      const object = holder as { [key: string]: Json };
      if (last && value === undefined) delete object[step.key];
      else if (last) define(object, step.key, value as Json);
      else {
        const inner: Json | undefined = Object.hasOwn(object, step.key) ? object[step.key] : undefined;
        const wanted = empty();
        const fits =
          inner !== null && typeof inner === 'object' && Array.isArray(inner) === Array.isArray(wanted);
        if (!fits && value === undefined) return;
        if (!fits) define(object, step.key, wanted);
        holder = object[step.key] as Json;
      }
    } else {
      const list = holder as Json[];
      const at = list.findIndex((one) => nameOf(one) === step.element);
      if (value === undefined) {
        if (at >= 0) list.splice(at, 1);
      } else if (at >= 0) list[at] = value;
      else list.push(value);
    }
  }
}

/** Sets a key whatever it is called: `__proto__` too is a key of JSON. */
function define(object: { [key: string]: Json }, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

function nameOf(value: Json): Json | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value['name'] : undefined;
}
