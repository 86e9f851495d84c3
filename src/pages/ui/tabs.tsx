/** Tabs as links, so that each can be shared, opened in a new tab, and revisited with the back button. */
import { Link } from './link.tsx';

interface TabsProps {
  label: string;
  tabs: readonly { id: string; title: string; to: string; count?: string }[];
  current: string;
}

export function Tabs({ label, tabs, current }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, title, to, count }) => (
        <Link key={id} to={to} current={id === current}>
          {title}
          {count !== undefined && <small> {count}</small>}
        </Link>
      ))}
    </nav>
  );
}
