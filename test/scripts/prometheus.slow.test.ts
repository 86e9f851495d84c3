/** A real Prometheus loads the alert rules and answers every query of the board about a daemon with some traffic. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StreamClient } from '../streams/client.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { ROOT, start } from '../support/daemon/command.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { freePort } from '../support/free-port.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { startPostgres } from '../support/sink/postgres.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;
const needs = { skip: !hasPrometheus && 'left out: this machine has no prometheus' };

/** Panels of values that a running daemon measures, so they show data from the start, not a default of 0. */
const MEASURED = new Set([
  'Ready',
  'Lag',
  'Age of the last block',
  'Version',
  'Heads',
  'Lag in blocks',
  'Event loop delay',
  'Memory',
  'Files',
  'Space left',
  'Growth a day',
]);

interface Sample {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

/** Asks a Prometheus. */
async function ask<T>(port: number, path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
  const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string };
  if (status !== 'success') throw new Error(`${path}: ${error}`);
  return data;
}

/** The queries of the board's panels about one instance, with Grafana's variables replaced. */
function panelQueries(instance: string): { title: string; query: string }[] {
  const board: { panels: { title: string; targets?: { expr: string }[] }[] } = JSON.parse(
    readFileSync(join(ROOT, 'scripts/grafana-dashboard.json'), 'utf8'),
  );
  return board.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      query: expr.replaceAll('$__rate_interval', '10s').replaceAll('$instance', instance),
    })),
  );
}

async function startPrometheus(owner: Parameters<typeof tempDir>[0], target: number): Promise<number> {
  const dir = tempDir(owner);
  const port = await freePort();
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    scrape_configs: [{ job_name: 'atlas-node', static_configs: [{ targets: [`127.0.0.1:${target}`] }] }],
    rule_files: [join(ROOT, 'scripts/alerts.yml')],
  };
  writeFileSync(join(dir, 'prometheus.yml'), JSON.stringify(config)); // YAML reads JSON
  const args = [`--config.file=${dir}/prometheus.yml`, `--storage.tsdb.path=${dir}/data`];
  const running = start(
    nestedCleanup(owner),
    ['prometheus', ...args, `--web.listen-address=127.0.0.1:${port}`],
    {
      cwd: dir,
    },
  );
  await waitFor(() => ask(port, 'status/runtimeinfo'), { what: `prometheus: ${running.stderr()}` });
  return port;
}

/** One of each kind of request. */
async function makeTraffic({ url, key, get }: TestDaemon): Promise<void> {
  const headers = { 'X-API-Key': key };
  const rpc = (method: string) =>
    fetch(`${url}/rpc`, { method: 'POST', headers, body: `{"jsonrpc":"2.0","id":1,"method":"${method}"}` });
  await Promise.all([get('whale_transfers'), rpc('eth_blockNumber'), rpc('eth_gasPrice'), rpc('no_method')]);
}

test('every rule is loaded, and every panel has data after half a minute of traffic', needs, async (t) => {
  const { node } = await startGeneratedNode(nestedCleanup(t), { blocks: 2_000, txPerBlock: 6 }, { head: 50 });
  const target = await freePort();
  const postgres = await startPostgres(nestedCleanup(t));
  const daemon = await startTestDaemon(nestedCleanup(t), {
    flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
    env: {
      ATLAS_METRICS__LISTEN: `127.0.0.1:${target}`,
      ATLAS_ACCESS__POSTGRES: await postgres.createDatabase('keys'),
    },
  });
  const stream = await StreamClient.open(nestedCleanup(t), daemon.url, daemon.key);
  await stream.subscribe('newHeads');
  const prometheus = await startPrometheus(t, target);

  const samples = async (query: string): Promise<Sample[]> =>
    (await ask<{ result: Sample[] }>(prometheus, `query?query=${encodeURIComponent(query)}`)).result;
  const missing = async (): Promise<string[]> => {
    const answers = await Promise.all(
      panelQueries('.*').map(async ({ title, query }) => {
        const result = await samples(query);
        const isShown =
          result.length > 0 && result.every(({ value: [, value] }) => Number.isFinite(Number(value)));
        return isShown ? [] : [`${title}: ${query} gives ${JSON.stringify(result)}`];
      }),
    );
    return answers.flat();
  };
  await waitFor(
    async () => {
      node.mine();
      await makeTraffic(daemon);
      return (await missing()).length === 0;
    },
    { what: 'data in every panel', everyMs: 500 },
  ).catch(async (cause) => {
    throw new Error((await missing()).join('\n'), { cause });
  });
  for (const name of ['atlas_cluster_joined', 'atlas_cluster_daemons'])
    assert.equal((await samples(name))[0]?.value[1], '1', name);

  const idle = await Promise.all(
    panelQueries('no such instance').map(async ({ title, query }) => ({
      title,
      result: await samples(query),
    })),
  );
  const zero = ({ result }: { result: Sample[] }) => result.length === 1 && result[0]?.value[1] === '0';
  assert.deepEqual(
    new Set(idle.filter((panel) => !zero(panel)).map(({ title }) => title)),
    MEASURED,
    'every other panel shows 0 where nothing happened yet',
  );

  const rules = async () => {
    const { groups } = await ask<{ groups: { rules: { health: string }[] }[] }>(prometheus, 'rules');
    return groups.flatMap((group) => group.rules);
  };
  assert.ok((await rules()).length >= 10);
  await waitFor(async () => (await rules()).every(({ health }) => health === 'ok'), {
    what: 'every rule to be evaluated',
  });
  assert.deepEqual(await samples('ALERTS{alertstate="firing"}'), [], 'nothing is wrong');
});
