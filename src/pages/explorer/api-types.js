/** The answers of the API that the explorer reads, as types. The API itself says more: see /docs. */

/**
 * @typedef {object} Transfer
 * @property {number} id
 * @property {number} blockNumber
 * @property {string} txHash
 * @property {'native_direct' | 'native_internal' | 'erc20' | 'erc721' | 'erc1155'} transferType
 * @property {string} from
 * @property {string} to
 * @property {string | null} tokenAddress
 * @property {string | null} tokenId
 * @property {string | null} symbol
 * @property {number | null} decimals
 * @property {string} amount base units
 * @property {'in' | 'out'} direction
 * @property {string} timestamp
 */

/**
 * @typedef {object} TransferPage
 * @property {Transfer[]} transfers
 * @property {number | null} nextCursor
 */

/**
 * @typedef {object} Summary
 * @property {string} address
 * @property {number | null} firstSeenBlock
 * @property {number | null} lastSeenBlock
 * @property {number} txCount
 * @property {number} uniqueTokens
 * @property {string} nativeReceived
 * @property {string} nativeReceivedWei
 * @property {string} nativeSent
 * @property {string} nativeSentWei
 * @property {string | null} firstFundingSource
 * @property {string | null} lastActivity
 */

/**
 * @typedef {object} Label
 * @property {string[]} labels
 * @property {string} confidence
 * @property {{ ageBlocks: number | null }} stats
 */

/**
 * @typedef {object} Hop
 * @property {number} hop
 * @property {string} funded
 * @property {string} funder
 * @property {string} amount
 * @property {string} txHash
 * @property {number} blockNumber
 * @property {string} timestamp
 * @property {'direct' | 'internal'} source
 */

/**
 * @typedef {object} Cohort
 * @property {string | null} funder
 * @property {{ address: string, amount: string, txHash: string, blockNumber: number, timestamp: string }[]} coordinated
 * @property {number} funderFundedCount
 * @property {boolean} hub
 */

/**
 * @typedef {object} Recipient
 * @property {string} address
 * @property {string} amount
 * @property {number} transferCount
 * @property {number} lastBlock
 * @property {string} timestamp
 * @property {boolean} firstFunding
 */

/**
 * @typedef {object} Counterparty
 * @property {string} address
 * @property {number} transferCount
 * @property {number} inCount
 * @property {number} outCount
 * @property {string} nativeIn
 * @property {string} nativeOut
 * @property {string} lastSeenAt
 */

/**
 * @typedef {object} TokenStats
 * @property {string} token
 * @property {number} transferCount
 * @property {number} holderCount
 * @property {number} uniqueWallets
 * @property {number | null} firstSeenBlock
 * @property {string | null} firstSeenAt
 * @property {string | null} name
 * @property {string | null} symbol
 * @property {number | null} decimals
 * @property {string | null} type
 */

/** @typedef {{ address: string, balance: string }} Holder */
/** @typedef {{ address: string, firstSeenBlock: number, firstSeenAt: string, transferCount: number }} Buyer */

/**
 * @typedef {object} Whale
 * @property {string} from
 * @property {string} to
 * @property {string} amount
 * @property {string} txHash
 * @property {number} blockNumber
 * @property {string} timestamp
 */

/** @typedef {{ address: string, topics: string[], data: string, blockNumber: string, transactionHash: string, logIndex: string }} Log */

/**
 * @typedef {object} Transaction
 * @property {string | null} blockHash null while it waits for a block
 * @property {string} from
 * @property {string | null} to null where it makes a contract
 * @property {string} value wei
 */

/** @typedef {{ status?: string, contractAddress: string | null, logs: Log[] }} Receipt */
/** @typedef {{ number: string, hash: string, parentHash: string, timestamp: string, transactions: string[] }} Block */

export {};
