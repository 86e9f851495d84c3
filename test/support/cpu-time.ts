/** CPU time used by this process so far, milliseconds, independent of the machine's load. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
