/** What a query does that its author certainly does not mean, although it runs. Told before it does. */
import type { ColumnName } from '../text/expressions.ts';
import type { Node } from '../text/nodes.ts';
import type { Query, SelectCore } from '../text/select.ts';
import { type Computed, computedColumns } from './computed-columns.ts';
import { oddComparisons } from './odd-comparisons.ts';
import { originOf, realOf } from './outputs.ts';
import type { ScopeItem } from './scope.ts';
import { amountsAsText } from './text-order.ts';

/** Lines of an answer's notes; a query may have thousands of conditions. */
const MAX_NOTES = 5;

export class QueryNotes {
  private readonly asText = new Set<string>();
  private readonly others = new Set<string>();

  /** Notes on a SELECT of a query. `conditions`: its WHERE, and those of its joins. */
  read(
    query: Query,
    core: SelectCore,
    conditions: readonly (readonly Node[])[],
    items: readonly ScopeItem[],
  ): void {
    const find = (name: ColumnName) => originOf(name, items);
    for (const column of amountsAsText(query, core, find)) this.asText.add(column);
    // The order of a query with several SELECTs is by its results.
    const order = query.cores.length > 1 ? [] : (query.order?.terms ?? []);
    for (const computed of computedColumns([...core.nodes, ...order], find))
      this.others.add(computationNote(computed));
    for (const condition of conditions)
      for (const note of oddComparisons(condition, find)) this.others.add(note);
  }

  lines(): string[] {
    const { asText, others } = this;
    return [...(asText.size === 0 ? [] : [textNote([...asText])]), ...others].slice(0, MAX_NOTES);
  }
}

function textNote(columns: readonly string[]): string {
  return (
    `orders or compares ${columns.join(' and ')} as text, where 9 comes after 10, and any text after any number: ` +
    `write ${columns.map((column) => `${column}_real`).join(' and ')}`
  );
}

function computationNote({ how, written, origin }: Computed): string {
  const real = realOf(origin);
  if (how === 'time')
    return (
      `computes with ${written}, which is text, as with the number of its year: unixepoch(${written}) gives seconds, ` +
      `datetime(${written}, '+1 hour') another time, date(${written}) the day`
    );
  if (how === 'computed')
    return (
      `computes with ${written} as a floating-point number, which keeps some 15 digits: units(), plus(), minus(), ` +
      `negate() and mul_div() are exact${real === null ? '' : `, and ${real} says that near is enough`}`
    );
  const exact = /(?:quantity|price)$/.test(origin.column)
    ? 'units(sum_amount(x), decimals) of amounts in base units is exact'
    : `sum_amount(${written}) is exact`;
  return (
    `sum() adds ${written} as floating-point numbers, which keep some 15 digits: ${exact}` +
    (real === null ? '' : `, and sum(${real}) says that near is enough`)
  );
}
