/** The effective settings and their sources. */
import { useState } from 'preact/hooks';
import { Section } from '../ui/section.tsx';
import { Table } from '../ui/table.tsx';
import { usePolled } from './admin-api.ts';

/** They change only on a restart or a reload of the configuration. */
const POLL_MS = 5_000;

const NOTE =
  'Effective settings: flags override the environment, which overrides the file, which overrides the defaults. ' +
  'Secrets are masked.';

export function SettingsPart() {
  const config = usePolled('config', POLL_MS);
  const [wanted, setWanted] = useState('');
  return (
    <Section
      id="settings"
      isPage
      title="Settings"
      note={NOTE}
      loaded={config}
      controls={
        <input
          type="search"
          aria-label="Search the settings"
          placeholder="Search"
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      }
    >
      {({ settings }) => (
        <Table
          caption="Settings, explicitly set ones first"
          rows={Object.entries(settings)
            .map(([path, { value, source }]) => ({ path, value: valueText(value), source }))
            .filter(({ path, value }) => `${path} ${value}`.includes(wanted.trim()))
            .sort((a, b) => Number(a.source === 'default') - Number(b.source === 'default'))}
          rowKey={({ path }) => path}
          rowClass={({ source }) => (source === 'default' ? 'soft' : '')}
          empty="No settings match this search."
          columns={[
            { title: 'Setting', plain: true, cell: ({ path }) => <code class="break">{path}</code> },
            { title: 'Value', plain: true, cell: ({ value }) => <code class="break">{value}</code> },
            { title: 'From', cell: ({ source }) => source },
          ]}
        />
      )}
    </Section>
  );
}

function valueText(value: unknown): string {
  return value === '' ? '(empty)' : typeof value === 'string' ? value : JSON.stringify(value);
}
