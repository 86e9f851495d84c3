/**
 * A repair in its own process, to be killed: `repair-process.ts INDEX NODE FROM TO [KILL]`. It prints each step and
 * kills itself at step KILL, counted from 1.
 */
import { writeSync } from 'node:fs';
import { repairFile } from '../index/verify.ts';

const [path = '', url = '', from, to, kill] = process.argv.slice(2);
let step = 0;
const onProgress = (text: string): void => {
  writeSync(1, `${text}\n`);
  if (++step === Number(kill)) process.kill(process.pid, 'SIGKILL');
};
// Many commits, so that there is something between them.
const options = { batchTransfers: 100 };
const { replacedFrom } = await repairFile(path, url, Number(from), Number(to), onProgress, options);
writeSync(1, replacedFrom === null ? 'nothing to repair\n' : `repaired from ${replacedFrom}\n`);
