/** The answers of the panel's API, as types. */

/**
 * @typedef {object} Key
 * @property {number} id
 * @property {string} hint
 * @property {string} name
 * @property {string} tier
 * @property {string} createdAt
 * @property {string | null} rotatedAt
 * @property {string | null} revokedAt
 */

/** @typedef {Key & { requestsThisMonth: number, requestsPerMonth: number }} ListedKey */
/** @typedef {{ name: string, requestsPerMonth: number, requestsPerSecond: number, chainDepth: number }} Tier */
/** @typedef {{ keys: ListedKey[], tiers: Tier[], monthEndsAt: string }} KeyList */
/** @typedef {{ key: string, record: Key }} Issued */
/** @typedef {{ from: string, to: string, hours: { at: string, requests: number }[], months: { month: string, requests: number }[] }} Usage */

/**
 * @typedef {object} Status
 * @property {'starting' | 'backfilling' | 'following' | 'paused'} phase
 * @property {string | null} reason
 * @property {string | null} readFailure
 * @property {'unchecked' | 'same' | 'behind' | 'another_chain' | 'reorg_too_deep' | 'reorg_below_finalized'} nodeChain
 * @property {number | null} startBlock
 * @property {{ number: number, hash: string } | null} head
 * @property {number | null} nodeHead
 * @property {number | null} lagBlocks
 * @property {number | null} lagSeconds
 * @property {string | null} staleReason
 * @property {number | null} etaSeconds
 * @property {number} startedAt
 * @property {number} blocksPerSecond
 * @property {number} transfersPerSecond
 * @property {number} transfers
 * @property {Record<string, number>} skippedLogs
 * @property {number} reorgs
 * @property {number} deepestReorg
 * @property {number | null} lastCommitAt
 * @property {{ client: string, chainId: number, traces: string | null, blockReceipts: boolean, headTag: string } | null} capabilities
 * @property {boolean | null} internalTransfers
 * @property {string | null} internalTransfersReason
 * @property {Sink | null} sink
 */

/**
 * @typedef {object} Sink
 * @property {'connecting' | 'filling' | 'following' | 'waiting'} state
 * @property {string | null} reason
 * @property {string} schema
 * @property {string} finality
 * @property {number | null} block
 * @property {number | null} lagBlocks
 * @property {number | null} lagSeconds
 * @property {number} transfersPerSecond
 * @property {number} transfers
 * @property {number | null} lastCommitAt
 * @property {number} rollbacks
 * @property {number} errors
 */

/**
 * @typedef {object} Survey
 * @property {string} at
 * @property {number | null} head
 * @property {number} transfers
 * @property {number} fileBytes
 * @property {number} walBytes
 * @property {number} freeBytes
 * @property {{ name: string, bytes: number }[]} tables
 * @property {{ names: string[], bytes: number } | null} unmeasured
 * @property {{ estimated: boolean, transfers: Record<string, number> }} kinds
 * @property {{ transfersPerDay: number, transfersPerBlock: number, seconds: number } | null} growth
 */

/** @typedef {{ bytesPerDay: number | null, bytesWhenFilled: number | null, daysUntilFull: number | null }} Forecast */
/** @typedef {{ status: Status, survey: Survey | null, surveyFailure: string | null, forecast: Forecast | null }} IndexState */
/** @typedef {{ endpoint: string, keyId: number, openedAt: string, topics: string[], backlogBytes: number }} Socket */
/** @typedef {{ total: number, endpoints: Record<string, number>, topics: Record<string, number>, sockets: Socket[] }} Sockets */
/** @typedef {{ settings: Record<string, { value: unknown, source: string }> }} Config */

export {};
