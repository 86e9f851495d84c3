/** Functions of standards and widely used contracts, by selector. In the format of table.ts. */
export const KNOWN_METHODS = `
# Tokens
0xa9059cbb transfer(address to, uint256 value)
0x23b872dd transferFrom(address from, address to, uint256 value)
0x095ea7b3 approve(address spender, uint256 value)
0x39509351 increaseAllowance(address spender, uint256 addedValue)
0xa457c2d7 decreaseAllowance(address spender, uint256 subtractedValue)
0xd505accf
  permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
0x8fcbaf0c
  permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r,
      bytes32 s)
0xe3ee160e
  transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter,
      uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)
0x40c10f19 mint(address to, uint256 value)
0x6a627842 mint(address to)
0xa0712d68 mint(uint256 amount)
0x1249c58b mint()
0xa1448194 safeMint(address to, uint256 tokenId)
0x40d097c3 safeMint(address to)
0x42966c68 burn(uint256 value)
0x9dc29fac burn(address from, uint256 value)
0x79cc6790 burnFrom(address account, uint256 value)
0x42842e0e safeTransferFrom(address from, address to, uint256 tokenId)
0xb88d4fde safeTransferFrom(address from, address to, uint256 tokenId, bytes data)
0xa22cb465 setApprovalForAll(address operator, bool approved)
0xf242432a safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)
0x2eb2c2d6 safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)
0x1f7fdffa mintBatch(address to, uint256[] ids, uint256[] amounts, bytes data)
0x1e89d545 multiTransfer(address[] recipients, uint256[] amounts)
0xe63d38ed disperseEther(address[] recipients, uint256[] values)
0xc73a2d60 disperseToken(address token, address[] recipients, uint256[] values)
0x67243482 airdrop(address[] recipients, uint256[] amounts)

# Wrapped native, vaults and lending
0xd0e30db0 deposit()
0xb6b55f25 deposit(uint256 amount)
0x6e553f65 deposit(uint256 assets, address receiver)
0x94bf804d mint(uint256 shares, address receiver)
0x2e1a7d4d withdraw(uint256 amount)
0x3ccfd60b withdraw()
0xb460af94 withdraw(uint256 assets, address receiver, address owner)
0xba087652 redeem(uint256 shares, address receiver, address owner)
0xdb006a75 redeem(uint256 amount)
0x617ba037 supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)
0x69328dec withdraw(address asset, uint256 amount, address to)
0xa415bcad
  borrow(address asset, uint256 amount, uint256 interestRateMode, uint16 referralCode, address onBehalfOf)
0x573ade81 repay(address asset, uint256 amount, uint256 interestRateMode, address onBehalfOf)
0x00a718a9
  liquidationCall(address collateralAsset, address debtAsset, address user, uint256 debtToCover,
      bool receiveAToken)
0xab9c4b5d
  flashLoan(address receiver, address[] assets, uint256[] amounts, uint256[] modes, address onBehalfOf,
      bytes params, uint16 referralCode)
0xc5ebeaec borrow(uint256 borrowAmount)
0x0e752702 repayBorrow(uint256 repayAmount)

# Exchanges
0x7ff36ab5 swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline)
0xfb3bdb41 swapETHForExactTokens(uint256 amountOut, address[] path, address to, uint256 deadline)
0x18cbafe5
  swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] path, address to,
      uint256 deadline)
0x4a25d94a
  swapTokensForExactETH(uint256 amountOut, uint256 amountInMax, address[] path, address to,
      uint256 deadline)
0x38ed1739
  swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to,
      uint256 deadline)
0x8803dbee
  swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to,
      uint256 deadline)
0xb6f9de95
  swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin, address[] path, address to,
      uint256 deadline)
0x791ac947
  swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path,
      address to, uint256 deadline)
0x5c11d795
  swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin,
      address[] path, address to, uint256 deadline)
0x472b43f3 swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)
0x42712a67 swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to)
0xe8e33700
  addLiquidity(address tokenA, address tokenB, uint256 amountADesired, uint256 amountBDesired,
      uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline)
0xf305d719
  addLiquidityETH(address token, uint256 amountTokenDesired, uint256 amountTokenMin, uint256 amountETHMin,
      address to, uint256 deadline)
0xbaa2abde
  removeLiquidity(address tokenA, address tokenB, uint256 liquidity, uint256 amountAMin, uint256 amountBMin,
      address to, uint256 deadline)
0x02751cec
  removeLiquidityETH(address token, uint256 liquidity, uint256 amountTokenMin, uint256 amountETHMin,
      address to, uint256 deadline)
0x022c0d9f swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)
0x128acb08
  swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes data)
0xbc25cf77 skim(address to)
0xfff6cae9 sync()
0x414bf389
  exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline,
      uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)
0xc04b8d59
  exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn,
      uint256 amountOutMinimum) params)
0xdb3e2198
  exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline,
      uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96) params)
0xf28c0498
  exactOutput((bytes path, address recipient, uint256 deadline, uint256 amountOut,
      uint256 amountInMaximum) params)
0x04e45aaf
  exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn,
      uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)
0xb858183f exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params)
0x5023b4df
  exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountOut,
      uint256 amountInMaximum, uint160 sqrtPriceLimitX96) params)
0x09b81346
  exactOutput((bytes path, address recipient, uint256 amountOut, uint256 amountInMaximum) params)
0x49404b7c unwrapWETH9(uint256 amountMinimum, address recipient)
0x12210e8a refundETH()
0xdf2ab5bb sweepToken(address token, uint256 amountMinimum, address recipient)
0x88316456
  mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper,
      uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min,
      address recipient, uint256 deadline) params)
0x219f5d17
  increaseLiquidity((uint256 tokenId, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min,
      uint256 amount1Min, uint256 deadline) params)
0x0c49ccbe
  decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min,
      uint256 deadline) params)
0xfc6f7865 collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max) params)
0x3593564c execute(bytes commands, bytes[] inputs, uint256 deadline)
0x24856bc3 execute(bytes commands, bytes[] inputs)
0xdd46508f modifyLiquidities(bytes unlockData, uint256 deadline)
0xfb0f3ee1
  fulfillBasicOrder((address considerationToken, uint256 considerationIdentifier,
      uint256 considerationAmount, address offerer, address zone, address offerToken,
      uint256 offerIdentifier, uint256 offerAmount, uint8 basicOrderType, uint256 startTime,
      uint256 endTime, bytes32 zoneHash, uint256 salt, bytes32 offererConduitKey,
      bytes32 fulfillerConduitKey, uint256 totalOriginalAdditionalRecipients, (uint256 amount,
      address recipient)[] additionalRecipients, bytes signature) parameters)

# Several calls in one
0xac9650d8 multicall(bytes[] data)
0x5ae401dc multicall(uint256 deadline, bytes[] data)
0x1f0464d1 multicall(bytes32 previousBlockhash, bytes[] data)
0x252dba42 aggregate((address target, bytes callData)[] calls)
0x82ad56cb aggregate3((address target, bool allowFailure, bytes callData)[] calls)
0x174dea71 aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls)
0xbce38bd7 tryAggregate(bool requireSuccess, (address target, bytes callData)[] calls)

# Permit2
0x87517c45 approve(address token, address spender, uint160 amount, uint48 expiration)
0x36c78516 transferFrom(address from, address to, uint160 amount, address token)
0x2b67b570
  permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details,
      address spender, uint256 sigDeadline) permitSingle, bytes signature)
0x30f28b7a
  permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit,
      (address to, uint256 requestedAmount) transferDetails, address owner, bytes signature)

# Smart accounts
0x1fad948c
  handleOps((address sender, uint256 nonce, bytes initCode, bytes callData, uint256 callGasLimit,
      uint256 verificationGasLimit, uint256 preVerificationGas, uint256 maxFeePerGas,
      uint256 maxPriorityFeePerGas, bytes paymasterAndData, bytes signature)[] ops, address beneficiary)
0x765e827f
  handleOps((address sender, uint256 nonce, bytes initCode, bytes callData, bytes32 accountGasLimits,
      uint256 preVerificationGas, bytes32 gasFees, bytes paymasterAndData, bytes signature)[] ops,
      address beneficiary)
0xb760faf9 depositTo(address account)
0xb61d27f6 execute(address target, uint256 value, bytes data)
0x18dfb3c7 executeBatch(address[] targets, bytes[] datas)
0x47e1da2a executeBatch(address[] targets, uint256[] values, bytes[] datas)
0x34fcd5be executeBatch((address target, uint256 value, bytes data)[] calls)
0xe9ae5c53 execute(bytes32 mode, bytes executionCalldata)
0x5fbfb9cf createAccount(address owner, uint256 salt)
0x6a761202
  execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas,
      uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)
0x468721a7 execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation)
0x8d80ff0a multiSend(bytes transactions)
0xb63e800d
  setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler,
      address paymentToken, uint256 payment, address paymentReceiver)
0x1688f0b9 createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce)
0x0d582f13 addOwnerWithThreshold(address owner, uint256 threshold)
0xe318b52b swapOwner(address prevOwner, address oldOwner, address newOwner)

# Owners, roles and proxies
0xf2fde38b transferOwnership(address newOwner)
0x715018a6 renounceOwnership()
0x79ba5097 acceptOwnership()
0x2f2ff15d grantRole(bytes32 role, address account)
0xd547741f revokeRole(bytes32 role, address account)
0x36568abe renounceRole(bytes32 role, address account)
0x3659cfe6 upgradeTo(address newImplementation)
0x4f1ef286 upgradeToAndCall(address newImplementation, bytes data)
0x8f283970 changeAdmin(address newAdmin)
0x99a88ec4 upgrade(address proxy, address implementation)
0x9623609d upgradeAndCall(address proxy, address implementation, bytes data)
0x8129fc1c initialize()
0xc4d66de8 initialize(address owner)
0x8456cb59 pause()
0x3f4ba83a unpause()
0x66cfa057 deploy(uint256 value, bytes32 salt, bytes code)
0x64e03087 safeCreate2(bytes32 salt, bytes initializationCode)

# Staking, claims and votes
0x3a4b66f1 stake()
0xa694fc3a stake(uint256 amount)
0x2e17de78 unstake(uint256 amount)
0xe9fad8ee exit()
0x3d18b912 getReward()
0x4e71d92d claim()
0x379607f5 claim(uint256 amount)
0x2e7ba6ef claim(uint256 index, address account, uint256 amount, bytes32[] merkleProof)
0x372500ab claimRewards()
0xe2bbb158 deposit(uint256 pid, uint256 amount)
0x441a3e70 withdraw(uint256 pid, uint256 amount)
0xddc63262 harvest(uint256 pid)
0xa1903eab submit(address referral)
0x5c19a95c delegate(address delegatee)
0x56781388 castVote(uint256 proposalId, uint8 support)
0x7b3c71d3 castVoteWithReason(uint256 proposalId, uint8 support, string reason)
0x7d5e81e2 propose(address[] targets, uint256[] values, bytes[] calldatas, string description)
0x22895118
  deposit(bytes pubkey, bytes withdrawal_credentials, bytes signature, bytes32 deposit_data_root)

# Monad staking
0x84994fec delegate(uint64 validatorId)
0x5cf41514 undelegate(uint64 validatorId, uint256 amount, uint8 withdrawId)
0xaed2ee73 withdraw(uint64 validatorId, uint8 withdrawId)
0xa76e2ca5 claimRewards(uint64 validatorId)
0xb34fea67 compound(uint64 validatorId)
0xf145204c addValidator(bytes payload, bytes signedSecpMessage, bytes signedBlsMessage)

# Bridges and oracles
0xb1a1a882 depositETH(uint32 minGasLimit, bytes extraData)
0xe9e05c42 depositTransaction(address to, uint256 value, uint64 gasLimit, bool isCreation, bytes data)
0xd764ad0b
  relayMessage(uint256 nonce, address sender, address target, uint256 value, uint256 minGasLimit,
      bytes message)
0x6fd3504e
  depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken)
0x57ecfd28 receiveMessage(bytes message, bytes attestation)
0xc7c7f5b3
  send((uint32 dstEid, bytes32 to, uint256 amountLD, uint256 minAmountLD, bytes extraOptions,
      bytes composeMsg, bytes oftCmd) sendParam, (uint256 nativeFee, uint256 lzTokenFee) fee,
      address refundAddress)
0xef9e5e28 updatePriceFeeds(bytes[] updateData)

# Names
0x74694a2b
  register(string name, address owner, uint256 duration, bytes32 secret, address resolver, bytes[] data,
      bool reverseRecord, uint16 ownerControlledFuses)
0xf14fcbc8 commit(bytes32 commitment)
0xacf1a841 renew(string name, uint256 duration)
0xd5fa2b00 setAddr(bytes32 node, address addr)
0x10f13a8c setText(bytes32 node, string key, string value)
`;
