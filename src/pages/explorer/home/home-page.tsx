/** The chain at a glance. */
import { useAnswer } from '../../client/use-answer.ts';
import { Section } from '../../ui/section.tsx';
import { COIN } from '../coin.ts';
import { LargeTable } from '../large-table.tsx';
import { useTitle } from '../use-title.ts';

export function HomePage() {
  useTitle('Explorer');
  const large = useAnswer('whale_transfers', { min_mon: 100, limit: 20 });
  return (
    <Section
      id="large"
      title="Large transfers"
      note={`100 ${COIN} or more, in the last 10,000 blocks.`}
      loaded={large}
    >
      {({ transfers }) => <LargeTable transfers={transfers} />}
    </Section>
  );
}
