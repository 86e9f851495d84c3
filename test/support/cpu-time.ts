/** Time that this process spent computing so far, milliseconds: what others do on the machine is not in it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
