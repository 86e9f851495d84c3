/** Says in one sentence why a value does not fit a schema of a filter. */
import type * as z from 'zod';

export type FilterSchema = z.ZodObject;

type Issue = z.core.$ZodIssue;

/** The first problem, starting with the member's name; null if the value fits. */
export function firstProblem(schema: FilterSchema, value: unknown): string | null {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  return issue === undefined ? null : messageOf(issue);
}

function messageOf(issue: Issue, path = issue.path): string {
  const inner = issue.code === 'invalid_union' ? innerIssue(issue) : undefined;
  if (inner !== undefined) return messageOf(inner, [...path, ...inner.path]);
  if (issue.code === 'invalid_key')
    return (
      `a ${path[0] === 'minQuote' ? 'quote' : 'token'} of ${String(path[0])} ` +
      `${issue.issues[0]?.message ?? issue.message}`
    );
  return `${path.map(pathPart).join('')} ${issue.message}`.trimStart();
}

/** The issue of the alternative that fits the value's own type, if one does. */
function innerIssue({ errors }: z.core.$ZodIssueInvalidUnion): Issue | undefined {
  return errors.map(([first]) => first).find((first) => first !== undefined && first.path.length > 0);
}

/** Cut, because a client may send a megabyte. */
function pathPart(part: PropertyKey, i: number): string {
  if (typeof part === 'number') return `[${part}]`;
  const name = String(part).slice(0, 42);
  return i === 0 ? name : name.startsWith('0x') ? ` of ${name}` : `.${name}`;
}
