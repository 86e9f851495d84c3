import { metaContent } from '../ui/router.ts';

/** Symbol of the chain's native coin, a setting of the server. */
export const COIN = metaContent('coin');
