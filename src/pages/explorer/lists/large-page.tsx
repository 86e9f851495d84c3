/** Large transfers of the native coin. */
import { useEffect } from 'preact/hooks';
import { useAnswer } from '../../client/use-answer.ts';
import { countText, grouped } from '../../ui/format.ts';
import { setParams, useTitle } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { COIN } from '../coin.ts';
import { useHasInternal } from '../coverage.tsx';
import { LargeTable } from '../large-table.tsx';

const AMOUNTS = ['10', '100', '1000', '10000', '100000'];
const WINDOWS = ['1000', '10000', '100000', '1000000'];
const LIMIT = 200;

/** A page that stays open must not use up the quota of a key. */
const REFRESH_MS = 30_000;

export function LargePage({ params }: { params: URLSearchParams }) {
  useTitle('Large transfers');
  const amount = params.get('min') ?? '100';
  const blocks = params.get('blocks') ?? '10000';
  const list = useAnswer('whale_transfers', { min_mon: amount, blocks, limit: LIMIT });
  const { reload } = list;
  useEffect(() => {
    const timer = setInterval(() => document.hidden || reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const select = (
    name: string,
    label: string,
    values: readonly string[],
    value: string,
    text: (value: string) => string,
  ) => (
    <select
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => setParams({ [name]: currentTarget.value }, { replace: true })}
    >
      {[...new Set([...values, value])].map((one) => (
        <option key={one} value={one}>
          {text(one)}
        </option>
      ))}
    </select>
  );
  return (
    <Section
      id="large"
      isPage
      title="Large transfers"
      note={`The newest ${LIMIT} coin transfers${useHasInternal() ? ', including internal ones' : ''}.`}
      loaded={list}
      controls={
        <>
          {select(
            'min',
            'Smallest amount',
            AMOUNTS,
            amount,
            (one) => `${grouped(Number(one))} ${COIN} or more`,
          )}
          {select('blocks', 'Window', WINDOWS, blocks, (one) => `last ${countText(Number(one), 'block')}`)}
        </>
      }
    >
      {({ transfers }) => <LargeTable transfers={transfers} />}
    </Section>
  );
}
