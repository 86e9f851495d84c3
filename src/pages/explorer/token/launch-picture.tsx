/**
 * A picture of a launch: the first holders by block, in the colours of their groups, filled by what they still hold.
 */
import type { Answers } from '../../client/answers.ts';
import { countText, grouped, percent, shortHex } from '../../ui/format.ts';
import { addressPath, Link } from '../../ui/link.tsx';

type Buyer = Answers['token_launch']['buyers'][number];

/** Colours of groups (drawings.css); more groups repeat them. */
const COLOURS = ['funder', 'recipient', 'exchange', 'bridge', 'dex', 'contract', 'faucet', 'person'] as const;

interface Group {
  name: string;
  members: number;
}

/** The groups of wallets by their keys: those with one payer, and those with one first funder. */
export function groupsOf(buyers: readonly Buyer[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const buyer of buyers) {
    const key = keyOf(buyer);
    if (key === null) continue;
    const name = buyer.samePayer === null ? 'with the same first funder' : 'paid for by one wallet';
    groups.set(key, { name, members: (groups.get(key)?.members ?? 0) + 1 });
  }
  return groups;
}

function keyOf({ samePayer, sameFunder }: Buyer): string | null {
  if (samePayer !== null) return `payer ${samePayer}`;
  return sameFunder === null ? null : `funder ${sameFunder}`;
}

/** Null for a wallet without a group. */
export function colourOf(groups: ReadonlyMap<string, Group>, buyer: Buyer): string | null {
  const key = keyOf(buyer);
  return key === null ? null : colourAt([...groups.keys()].indexOf(key));
}

function colourAt(place: number): string {
  return `group-${COLOURS[place % COLOURS.length]}`;
}

export function Swatch({ colour }: { colour: string | null }) {
  return <span class={`swatch ${colour ?? 'none'}`} aria-hidden="true" />;
}

export function LaunchPicture({ buyers }: { buyers: readonly Buyer[] }) {
  const groups = groupsOf(buyers);
  return (
    <figure class="launch">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs */}
      <div class="launch-blocks" role="group" aria-label="First holders by block">
        {byBlock(buyers).map(({ block, after, holders }) => (
          <div key={block}>
            <small class="soft">+{grouped(after)}</small>
            <ul>
              {holders.map((buyer) => (
                <li key={buyer.address}>
                  <Link to={addressPath(buyer.address)} title={textOf(buyer)}>
                    <Dot buyer={buyer} colour={colourOf(groups, buyer)} />
                    <span class="hidden-text">{textOf(buyer)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
      <figcaption class="legend small">
        <span class="soft">
          Blocks after its first transfer. Circles bought, squares did not; the filled part is still held.
        </span>
        {buyers.some(({ counted }) => !counted) && (
          <span class="soft">
            Dashed: not counted, because it got the token without paying and sold it to a listed buyer, as a
            pool does.
          </span>
        )}
        {[...groups.values()].map(({ name, members }, i) => (
          <span key={`${i} ${name}`}>
            <Swatch colour={colourAt(i)} /> {countText(members, 'wallet')} {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** They are in the order of the chain. */
function byBlock(buyers: readonly Buyer[]) {
  const blocks: { block: number; after: number; holders: Buyer[] }[] = [];
  for (const buyer of buyers) {
    const last = blocks.at(-1);
    if (last?.block === buyer.blockNumber) last.holders.push(buyer);
    else blocks.push({ block: buyer.blockNumber, after: buyer.blocksAfterFirst, holders: [buyer] });
  }
  return blocks;
}

function textOf({ rank, address, how, heldShare, counted }: Buyer): string {
  const held = heldShare === null ? 'passed all of it on' : `holds ${percent(heldShare)} of it`;
  return `${rank}. ${shortHex(address)}: ${how.replace('_', ' ')}, ${held}${counted ? '' : ', not counted'}`;
}

const SIZE = 24;
const MIDDLE = SIZE / 2;
const RADIUS = 9;
/** A circle of half the radius with a stroke as wide as the radius is a disc, and its dashes are sectors. */
const SECTORS = { r: RADIUS / 2, 'stroke-width': RADIUS, pathLength: 100, cx: MIDDLE, cy: MIDDLE };

function Dot({ buyer: { how, heldShare, counted }, colour }: { buyer: Buyer; colour: string | null }) {
  const isBought = how === 'bought' || how === 'bought_for';
  const [start, side] = [MIDDLE - RADIUS, 2 * RADIUS];
  return (
    <svg
      class={`holder ${colour ?? 'none'} ${counted ? '' : 'uncounted'}`}
      width={SIZE}
      height={SIZE}
      aria-hidden="true"
    >
      {isBought ? (
        <circle class="outline" cx={MIDDLE} cy={MIDDLE} r={RADIUS} />
      ) : (
        <rect class="outline" x={start} y={start} width={side} height={side} rx="2" />
      )}
      {heldShare !== null && heldShare > 0 && (
        <circle
          class="held"
          {...SECTORS}
          stroke-dasharray={`${heldShare * 100} 100`}
          transform={`rotate(-90 ${MIDDLE} ${MIDDLE})`}
        />
      )}
    </svg>
  );
}
