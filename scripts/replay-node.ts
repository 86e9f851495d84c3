/** A chain node that answers from recorded or generated blocks. See `--help`. */
import { runReplayNode } from '../src/bench/replay/command.ts';

await runReplayNode(process.argv.slice(2)).catch((error: Error) => {
  console.error(`replay-node: ${error.message}`);
  process.exitCode = 1;
});
