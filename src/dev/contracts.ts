/** The demo contracts: their code, and the calls that the traffic makes. */
import { encodeDeployData, isHex, parseAbi } from 'viem';
import type { Hex } from '../lib/hex.ts';
import artifacts from './contracts.json' with { type: 'json' };

/** Addresses of one deployment. */
export interface DemoContracts {
  /** ERC-20 with 18 decimals. */
  token: Hex;
  /** ERC-20 with 6 decimals. */
  stable: Hex;
  /** ERC-721. */
  nft: Hex;
  /** ERC-1155. */
  editions: Hex;
  /** ERC-721 minted by one ERC-2309 log. */
  badges: Hex;
  /** The wrapped native coin, like WETH9. It must be in `chain.wrapped_native`. */
  wrapped: Hex;
  /** DemoPool of the token against the native coin. */
  pool: Hex;
  /** DemoPool of the token against `stable`. */
  dollarPool: Hex;
  /** DemoRouter: trades for others and keeps nothing. */
  router: Hex;
  /** NativeSender: makes internal transfers, and calls that only look like them. */
  sender: Hex;
  /** Emits logs that are not transfers. */
  malformed: Hex;
}

/** The part of each interface that the demo uses, as declared in scripts/contracts (a test compares). */
export const abis = {
  DemoToken: parseAbi([
    'constructor(string name_, string symbol_, uint8 decimals_)',
    'function mint(address to, uint256 amount)',
    'function transfer(address to, uint256 value) returns (bool)',
    'function burn(uint256 value)',
    'function approve(address spender, uint256 value) returns (bool)',
  ]),
  DemoNft: parseAbi([
    'function mint(address to, uint256 id)',
    'function transferFrom(address from, address to, uint256 tokenId)',
    'function burn(uint256 tokenId)',
  ]),
  DemoEditions: parseAbi([
    'function mint(address to, uint256 id, uint256 amount)',
    'function mintBatch(address to, uint256[] ids, uint256[] amounts)',
    'function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)',
    'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)',
    'function burnBatch(address account, uint256[] ids, uint256[] values)',
  ]),
  DemoBadges: parseAbi([
    'constructor(address owner, uint96 count)',
    'function transferFrom(address from, address to, uint256 tokenId)',
  ]),
  DemoWrapped: parseAbi([
    'function deposit() payable',
    'function withdraw(uint256 wad)',
    'function transfer(address dst, uint256 wad) returns (bool)',
  ]),
  DemoPool: parseAbi([
    'constructor(address token_, address coin_, uint256 price_, uint256 supply) payable',
    'function setPrice(uint256 price_)',
    'function buy(uint256 units, address to) payable',
    'function buyForEach(uint256 units, address[] receivers) payable',
    'function sell(uint256 units)',
  ]),
  DemoRouter: parseAbi([
    'function buy(address pool, uint256 units) payable',
    'function sell(address pool, uint256 units)',
    'function swap(address from, uint256 units, address to, uint256 bought)',
  ]),
  NativeSender: parseAbi([
    'function fanOut(address[] recipients, uint256[] amounts) payable',
    'function relay(address recipient) payable',
    'function payAndSwallow(address undone, address paid) payable',
    'function payThenFail(address recipient, uint256 amount) payable',
    'function createBoth(bytes32 salt) payable',
    'function createRefused() payable',
    'function destructTo(address beneficiary) payable',
    'function destructToSelf() payable',
    'function lookAlikes(address target) payable',
  ]),
  MalformedLogs: parseAbi([
    'function emitAll(address from, address to)',
    'function fakeDeposit(address account, uint256 amount)',
  ]),
  Vault: parseAbi(['constructor(bool refuse) payable']),
} as const;

/** Creation code of a contract. Append encoded constructor arguments. */
export function bytecode(name: keyof typeof artifacts): Hex {
  const code = artifacts[name].bytecode;
  if (!isHex(code)) throw new Error(`contracts.json holds no bytecode of ${name}`);
  return code;
}

/** Creation code of an ERC-20 token. */
export function tokenCode(name: string, symbol: string, decimals: number): Hex {
  const args = [name, symbol, decimals] as const;
  return encodeDeployData({ abi: abis.DemoToken, bytecode: bytecode('DemoToken'), args });
}

interface PoolSettings {
  token: Hex;
  /** The zero address for the native coin. */
  coin: Hex;
  /** Base units of the coin per whole token. */
  price: bigint;
  /** Base units of the token that the pool starts with. */
  supply: bigint;
}

/** Creation code of a pool. */
export function poolCode({ token, coin, price, supply }: PoolSettings): Hex {
  const args = [token, coin, price, supply] as const;
  return encodeDeployData({ abi: abis.DemoPool, bytecode: bytecode('DemoPool'), args });
}

/** Creation code of an ERC-2309 collection of the ids 0 to `count - 1`, all owned by `owner`. */
export function badgesCode(owner: Hex, count: number): Hex {
  const args = [owner, BigInt(count)] as const;
  return encodeDeployData({ abi: abis.DemoBadges, bytecode: bytecode('DemoBadges'), args });
}

/** Creation code of a contract that accepts value, or refuses to be created. */
export function vaultCode(refuse: boolean): Hex {
  return encodeDeployData({ abi: abis.Vault, bytecode: bytecode('Vault'), args: [refuse] });
}
