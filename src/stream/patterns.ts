/** Patterns of values in the parameters of a subscribe. */
export const TOPIC_PATTERN = /^0x[0-9a-fA-F]{64}$/;

/** A block number as a quantity, without leading zeros and below 2^53. */
export const BLOCK_PATTERN = /^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,12})$/;
