/**
 * Preloaded with `--require`: kills the process, as `kill -9` does, before the change number KILL_AT_STEP, from 1, of
 * file names and small files below KILL_FOLDER.
 */
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

let step = 0;
for (const name of ['renameSync', 'rmSync', 'writeFileSync']) {
  const original = fs[name];
  fs[name] = (path, ...rest) => {
    if (String(path).startsWith(process.env.KILL_FOLDER) && ++step === Number(process.env.KILL_AT_STEP))
      process.kill(process.pid, 'SIGKILL');
    return original(path, ...rest);
  };
}
syncBuiltinESMExports();
