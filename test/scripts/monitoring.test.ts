/** The dashboard and the alert rules use only metrics that the daemon has. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { metricSeries } from '../support/metrics.ts';

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url));

/** Labels that Prometheus adds to everything it scrapes. */
const TARGET_LABELS = ['instance', 'job'];

/** The problems of a query, one per line. */
function faultsOf(query: string, series: ReadonlyMap<string, string[]>): string[] {
  const faults: string[] = [];
  const used = new Set(TARGET_LABELS);
  for (const [, name = '', selector = ''] of query.matchAll(/\b(atlas_\w+)(\{[^}]*\})?/g)) {
    const labels = series.get(name);
    if (labels === undefined) faults.push(`there is no ${name}`);
    for (const label of labels ?? []) used.add(label);
    for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)) {
      if (!TARGET_LABELS.includes(label) && !labels?.includes(label))
        faults.push(`${name} has no label ${label}`);
    }
  }
  for (const [, list = ''] of query.matchAll(/\b(?:by|on|without|ignoring)\s*\(([^)]+)\)/g)) {
    for (const label of list.split(',').map((text) => text.trim())) {
      if (!used.has(label)) faults.push(`nothing in it has the label ${label}`);
    }
  }
  if (!/\batlas_\w+|\bup\{/.test(query)) faults.push('it asks for no metric');
  return faults;
}

/** Every query of the dashboard, of its variables and of its annotations. */
function boardQueries(): string[] {
  const text = readFileSync(`${SCRIPTS}grafana-dashboard.json`, 'utf8');
  const board: { panels: { targets?: { expr: string }[] }[] } = JSON.parse(text);
  const shown = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const others = [...text.matchAll(/"(?:expr|definition)": "((?:[^"\\]|\\.)*)"/g)].map(
    ([, quoted]) => JSON.parse(`"${quoted}"`) as string,
  );
  return [...new Set([...shown, ...others])];
}

/** The `expr` of every rule: on the line itself or in the block below it. */
function ruleQueries(): string[] {
  const text = readFileSync(`${SCRIPTS}alerts.yml`, 'utf8');
  const queries = [...text.matchAll(/^( +)expr: (?:\|\n((?:\1 +.*\n)+)|(.*)\n)/gm)].map(
    ([, , block, line]) => block ?? line ?? '',
  );
  assert.equal(queries.length, text.match(/^ +- alert: /gm)?.length);
  return queries;
}

for (const { what, queries, least } of [
  { what: 'board', queries: boardQueries(), least: 35 },
  { what: 'alert rules', queries: ruleQueries(), least: 10 },
]) {
  test(`every query of the ${what} uses only metrics and labels that exist`, () => {
    const series = metricSeries();
    assert.ok(queries.length >= least, `only ${queries.length} queries were found`);
    assert.deepEqual(
      queries.flatMap((query) => faultsOf(query, series).map((fault) => `${fault}: ${query}`)),
      [],
    );
  });
}

test('neither a rule nor a panel counts server errors by status, which includes 503 of /readyz and not_ready', () => {
  for (const query of [...ruleQueries(), ...boardQueries()])
    assert.doesNotMatch(query, /atlas_http_requests_total\{[^}]*status\s*=~?\s*"5/);
  assert.ok(ruleQueries().some((query) => query.includes('atlas_http_server_errors_total')));
});

test('the check notices a wrong metric, a wrong label and a wrong grouping', () => {
  const series = metricSeries();
  assert.deepEqual(faultsOf('rate(atlas_no_such_total[5m])', series), ['there is no atlas_no_such_total']);
  assert.deepEqual(faultsOf('atlas_index_lag_blocks{kind="x"}', series), [
    'atlas_index_lag_blocks has no label kind',
  ]);
  assert.deepEqual(faultsOf('sum by (route) (atlas_index_lag_blocks)', series), [
    'nothing in it has the label route',
  ]);
  assert.deepEqual(faultsOf('rate(atlas_http_request_seconds[5m])', series), [
    'there is no atlas_http_request_seconds',
  ]);
});
