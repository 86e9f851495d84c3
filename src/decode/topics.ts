/** First topics of the events that move tokens, and special addresses. All lower case. */

/** keccak256 of `Transfer(address,address,uint256)`, ERC-20 and ERC-721. */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** `TransferSingle(address,address,address,uint256,uint256)`, ERC-1155. */
export const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
/** `TransferBatch(address,address,address,uint256[],uint256[])`, ERC-1155. */
export const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
/** `ConsecutiveTransfer(uint256,uint256,address,address)`, ERC-2309. */
export const CONSECUTIVE_TRANSFER = '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d';
/** `Deposit(address,uint256)` of wrapped native coins. */
export const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
/** `Withdrawal(address,uint256)` of wrapped native coins. */
export const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';

/** EIP-7708's emitter. Its Transfer logs repeat native transfers and belong to no token. */
export const NATIVE_LOG_EMITTER = '0xfffffffffffffffffffffffffffffffffffffffe';

/** Wrapped native contracts known per chain id; config adds to them. */
export const WRAPPED_NATIVE: Readonly<Record<number, readonly string[]>> = {
  1: ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'],
  10: ['0x4200000000000000000000000000000000000006'],
  56: ['0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'],
  137: ['0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'],
  143: ['0x3bd359c1119da7da1d913d1c4d2b7c461115433a'],
  8453: ['0x4200000000000000000000000000000000000006'],
  42161: ['0x82af49447d8a07e3bd95bd0d56f35241523fbab1'],
  43114: ['0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'],
};
