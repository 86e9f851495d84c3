/** The network's code, a tenth of all scripts, is loaded with its first view. */
import { useLoaded } from '../../client/use-answer.ts';
import { Failure, Loading } from '../../ui/section.tsx';
import type { TabProps } from './tab-props.ts';

export function NetworkTab(props: TabProps) {
  const { data, error, reload } = useLoaded('network code', async () => ({
    data: await import('./network-tab.tsx'),
    exchanges: [],
  }));
  if (data !== undefined) return <data.NetworkTab {...props} />;
  return error === null ? <Loading /> : <Failure error={error} onRetry={reload} />;
}
