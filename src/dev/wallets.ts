/** The actors on the demo chain: anvil's funded accounts, each with a role, and fresh wallets. */
import { keccak256, type LocalAccount, stringToBytes } from 'viem';
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';

/** The well-known development mnemonic; anvil funds its first ten accounts. */
const MNEMONIC = 'test test test test test test test test test test test junk';

export interface Roles {
  /** Deploys the contracts and mints. */
  deployer: LocalAccount;
  /** A hot wallet that funds many others, as exchanges do. */
  exchange: LocalAccount;
  /** Moves more than 10,000 coins at a time. */
  whale: LocalAccount;
  /** Buys and sells every ERC-20 token. */
  trader: LocalAccount;
  /** Holds ERC-721 and ERC-1155 tokens. */
  collector: LocalAccount;
  /** Drives the contract that forwards native value. */
  operator: LocalAccount;
}

let known: Roles | undefined;

/** The funded accounts of the demo. Derived once, because deriving from a mnemonic is slow by design, 30 ms each. */
export function roles(): Roles {
  const endowed = (addressIndex: number) => mnemonicToAccount(MNEMONIC, { addressIndex });
  known ??= {
    deployer: endowed(0),
    exchange: endowed(1),
    whale: endowed(2),
    trader: endowed(3),
    collector: endowed(4),
    operator: endowed(5),
  };
  return known;
}

/** An unused wallet, derived from its name. */
export function freshWallet(name: string): LocalAccount {
  return privateKeyToAccount(keccak256(stringToBytes(`atlas-node demo wallet ${name}`)));
}
