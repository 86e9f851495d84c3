/** Webhooks for the panel. */
import { RequestError } from '../../lib/errors.ts';
import type { AdminRequest } from './route.ts';

const ACTIONS = ['pause', 'resume', 'test', 'delete'] as const;
export type HookAction = (typeof ACTIONS)[number];

/** What the panel may do with hooks and lists. */
export interface AdminHooks {
  list(): object[];
  create(body: unknown): object;
  act(id: number, action: HookAction): object;
  lists(): object[];
}

/** A body of 1,000 wallets and 1,000 tokens. */
export const MAX_HOOK_BODY_BYTES = 128 * 1024;

type AddRoute = (
  method: 'get' | 'post',
  path: string,
  answer: (request: AdminRequest) => object,
  maxBodyBytes?: number,
) => void;

export function addHookRoutes(add: AddRoute, hooks: AdminHooks): void {
  add('get', '/hooks', () => ({ hooks: hooks.list() }));
  add('post', '/hooks', ({ body }) => ({ hook: hooks.create(body) }), MAX_HOOK_BODY_BYTES);
  for (const action of ACTIONS)
    add('post', `/hooks/:id/${action}`, ({ id }) => ({ hook: hooks.act(hookId(id), action) }));
  add('get', '/lists', () => ({ lists: hooks.lists() }));
}

/** Throws RequestError `not_found` when it is not a number. */
function hookId(id: string): number {
  if (!/^\d{1,15}$/.test(id)) throw new RequestError(404, 'not_found', `there is no hook ${id}`);
  return Number(id);
}
