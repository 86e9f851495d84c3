/** Methods for tests in other processes. Each does what the control of the same name does. */
import type { ReplayControls } from '../controls.ts';
import { jsonBytes } from '../rpc-json.ts';
import type { Methods } from './method.ts';

export function controlMethods(controls: ReplayControls): Methods {
  return {
    replay_setHead: ([number]) => jsonBytes(controls.setHead(Number(number))),
    replay_mine: ([count]) => jsonBytes(controls.mine(Number(count ?? 1))),
    replay_fork: ([from]) => {
      controls.fork(Number(from));
      return jsonBytes(true);
    },
    replay_setLatency: ([milliseconds]) => {
      controls.setLatency(Number(milliseconds));
      return jsonBytes(Number(milliseconds));
    },
    replay_stats: () => jsonBytes(controls.stats()),
  };
}
