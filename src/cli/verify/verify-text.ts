/** A verification's report as text. */
import type { Check, TokenVerdict, VerifyReport } from '../../verify/report.ts';
import { formatNumber, formatTable } from '../format.ts';

/** Most tokens to list. Exact ones are only counted. */
const MAX_TOKENS = 20;

export function verifyText(report: VerifyReport): string {
  const { index, node, checks, tokens, seconds } = report;
  const parts = [
    `${index.path}: chain ${index.chainId}, blocks ${formatNumber(index.startBlock)} to ` +
      `${formatNumber(index.head.number)}, ${formatNumber(index.transfers)} transfers`,
    node === null ? 'without a node' : `${node.client}: head ${formatNumber(node.head)}`,
    '',
    formatTable(['CHECK', 'RESULT', 'SHARE', 'WHAT WAS COMPARED'], checks.map(checkRow)),
    ...checks.flatMap(differenceLines),
    ...checks.flatMap(({ name, notes }) => notes.map((note) => `note (${name}): ${note}`)),
    ...tokenLines(tokens),
    '',
    `${conclusion(report)} (${seconds.toFixed(1)} s)`,
  ];
  return parts.join('\n');
}

function checkRow(check: Check): string[] {
  const { name, compared, notes, brokenOffBy } = check;
  return [name, resultOf(check), shareText(check), brokenOffBy ?? (compared || (notes[0] ?? ''))];
}

/** The share in percent. Shows 100 % only for the whole. */
function shareText({ share }: Check): string {
  if (share === null) return '-';
  return share >= 1 ? '100 %' : `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
}

function resultOf({ differenceCount, compared, brokenOffBy }: Check): string {
  if (differenceCount > 0) return `${formatNumber(differenceCount)} DIFFER`;
  if (brokenOffBy !== null) return 'UNFINISHED';
  return compared === '' ? 'left out' : 'equal';
}

function differenceLines({ name, differences, differenceCount }: Check): string[] {
  const lines = differences.map(({ text }) => `DIFFERENCE (${name}): ${text}`);
  const more = differenceCount - differences.length;
  return more > 0 ? [...lines, `DIFFERENCE (${name}): and ${formatNumber(more)} more`] : lines;
}

function tokenLines(tokens: readonly TokenVerdict[]): string[] {
  if (tokens.length === 0) return [];
  const count = (quality: TokenVerdict['quality']) =>
    tokens.filter((token) => token.quality === quality).length;
  const others = tokens.filter(({ quality }) => quality !== 'exact');
  const rows = others
    .slice(0, MAX_TOKENS)
    .map(({ token, quality, reason }) => [token, quality ?? 'unknown', reason]);
  return [
    '',
    `balances estimated from transfers, of ${tokens.length} tokens: ${count('exact')} exact, ` +
      `${count('partial')} partial, ${count('unreliable')} unreliable, ${count(null)} unknown`,
    ...(rows.length > 0 ? [formatTable(['TOKEN', 'ESTIMATE', 'BECAUSE'], rows)] : []),
    ...(others.length > MAX_TOKENS ? [`and ${others.length - MAX_TOKENS} more that are not exact`] : []),
  ];
}

/** The checks of the file against itself. Their findings are damage, which reading blocks again would not repair. */
const CHECKS_OF_FILE: ReadonlySet<string> = new Set(['file', 'checksums', 'wallets', 'tokens']);

/** The check whose differences are the node's fault. */
const CHECK_OF_NODE = 'roots';

/** Whether the file contradicts itself. Differences between blocks that belong to no single block also count. */
function isDamage({ name, differences }: Check): boolean {
  if (name === 'blocks') return differences.some(({ block }) => block === null);
  return differences.length > 0 && CHECKS_OF_FILE.has(name);
}

function conclusion({ differences, checks, unfinished }: VerifyReport): string {
  if (differences === 0)
    return unfinished.length === 0 ? 'no difference found' : 'no difference found in what was compared';
  const isDamaged = checks.some(isDamage);
  const ofIndex = checks.filter(({ name }) => name !== CHECK_OF_NODE);
  const blocks = ofIndex.flatMap((check) =>
    check.differences.flatMap(({ block }) => (block === null || isDamaged ? [] : [block])),
  );
  if (ofIndex.every(({ differenceCount }) => differenceCount === 0))
    return `${formatNumber(differences)} blocks of the node contradict their headers; verify with another node`;
  const advice = isDamaged
    ? '; stop the daemon and run "atlas-node verify --repair" to rebuild the file from its intact blocks and the node'
    : blocks.length > 0
      ? '; stop the daemon and run "atlas-node verify ' +
        '--repair ' +
        `${Math.min(...blocks)}..${Math.max(...blocks)}" to read those blocks again`
      : '; no repair of single blocks helps: stop the daemon, move index.db away and start it to rebuild the index';
  return `${formatNumber(differences)} difference${differences === 1 ? '' : 's'}${advice}`;
}
