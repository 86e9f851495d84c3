/** All endpoints, as a list. */
import type { Endpoint } from '../endpoint.ts';
import * as endpoints from './index.ts';

export const ENDPOINTS: readonly Endpoint[] = Object.values(endpoints);
