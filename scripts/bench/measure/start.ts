/** Time from starting the program to serving, on an existing index. */
import type { Table } from '../figure.ts';
import type { BenchContext } from '../setup/bench-context.ts';

export async function measureStart(context: BenchContext): Promise<Table[]> {
  const { ordinary } = await context.subjects();
  const toReady: number[] = [];
  const toAnswer: number[] = [];
  for (let i = 0; i < context.options.repeat; i++) {
    context.log(`start: ${i + 1} of ${context.options.repeat}`);
    await context.withServingDaemon({ cores: null }, async (daemon) => {
      toReady.push((daemon.readyAt - daemon.startedAt) / 1000);
      const url = `${daemon.url}/api/wallet_summary?address=${ordinary.wallets[0]}`;
      const response = await fetch(url, { headers: { 'X-API-Key': daemon.key } });
      if (!response.ok) throw new Error(`the first request was answered with HTTP ${response.status}`);
      await response.text();
      toAnswer.push((Date.now() - daemon.startedAt) / 1000);
    });
  }
  return [
    {
      title: 'Start on a warm index',
      layout: 'list',
      figures: [
        {
          name: 'from the command to serving',
          unit: 's',
          samples: toReady,
          budget: { floor: 1.5, goal: 0.5 },
        },
        { name: 'from the command to the first REST answer', unit: 's', samples: toAnswer },
      ],
      notes: [],
    },
  ];
}
