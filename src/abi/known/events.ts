/** Events of standards and widely used contracts, by topic. In the format of table.ts. */
export const KNOWN_EVENTS = `
# Tokens
0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef
  Transfer(address indexed from, address indexed to, uint256 value)
  Transfer(address indexed from, address indexed to, uint256 indexed tokenId)
  Transfer(address from, address to, uint256 value)
0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925
  Approval(address indexed owner, address indexed spender, uint256 value)
  Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)
0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31
  ApprovalForAll(address indexed owner, address indexed operator, bool approved)
0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62
  TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id,
      uint256 value)
0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb
  TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids,
      uint256[] values)
0x6bb7ff708619ba0610cba295a58592e0451dee2622938c8755667688daf3529b
  URI(string value, uint256 indexed id)
0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d
  ConsecutiveTransfer(uint256 indexed fromTokenId, uint256 toTokenId, address indexed from,
      address indexed to)
0xf8e1a15aba9398e019f0b49df1a4fde98ee17ae345cb5f6b5e2c27f5033e8ce7
  MetadataUpdate(uint256 tokenId)
0x6bd5c950a8d8df17f772f5af37cb3655737899cbf903264b9795592da439661c
  BatchMetadataUpdate(uint256 fromTokenId, uint256 toTokenId)
0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5
  AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)

# Wrapped native, vaults and lending
0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c
  Deposit(address indexed dst, uint256 wad)
0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65
  Withdrawal(address indexed src, uint256 wad)
0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7
  Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)
0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db
  Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets,
      uint256 shares)
0x2b627736bca15cd5381dcf80b0bf11fd197d01a037c52b927a881a10fb73ba61
  Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount,
      uint16 indexed referralCode)
0x3115d1449a7b732c986cba18244e897a450f61e1bb8d589cd2e69e6c8924f9f7
  Withdraw(address indexed reserve, address indexed user, address indexed to, uint256 amount)
0xb3d084820fb1a9decffb176436bd02558d15fac9b0ddfed8c465bc7359d7dce0
  Borrow(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount,
      uint8 interestRateMode, uint256 borrowRate, uint16 indexed referralCode)
0xa534c8dbe71f871f9f3530e97a74601fea17b426cae02e1c5aee42c96c784051
  Repay(address indexed reserve, address indexed user, address indexed repayer, uint256 amount,
      bool useATokens)
0xe413a321e8681d831f4dbccbca790d2952b56f977908e45be37335533e005286
  LiquidationCall(address indexed collateralAsset, address indexed debtAsset, address indexed user,
      uint256 debtToCover, uint256 liquidatedCollateralAmount, address liquidator, bool receiveAToken)
0x804c9b842b2748a22bb64b345453a3de7ca54a6ca45ce00d415894979e22897a
  ReserveDataUpdated(address indexed reserve, uint256 liquidityRate, uint256 stableBorrowRate,
      uint256 variableBorrowRate, uint256 liquidityIndex, uint256 variableBorrowIndex)

# Exchanges
0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822
  Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out,
      address indexed to)
0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1
  Sync(uint112 reserve0, uint112 reserve1)
0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f
  Mint(address indexed sender, uint256 amount0, uint256 amount1)
0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496
  Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)
0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9
  PairCreated(address indexed token0, address indexed token1, address pair, uint256 index)
0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67
  Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1,
      uint160 sqrtPriceX96, uint128 liquidity, int24 tick)
0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83
  Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1,
      uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0,
      uint128 protocolFeesToken1)
0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde
  Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper,
      uint128 amount, uint256 amount0, uint256 amount1)
0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c
  Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount,
      uint256 amount0, uint256 amount1)
0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0
  Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper,
      uint128 amount0, uint128 amount1)
0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633
  Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0,
      uint256 paid1)
0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95
  Initialize(uint160 sqrtPriceX96, int24 tick)
0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118
  PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing,
      address pool)
0x3067048beee31b25b2f1681f88dac838c8bba36af25bfb2b7cf7473a5847e35f
  IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)
0x26f6a048ee9138f2c0ce266f322cb99228e8d619ae2bff30c67f8dcf9d2377b4
  DecreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)
0x40d0efd1a53d60ecbf40971b9daf7dc90178c3aadc7aab1765632738fa8b8f01
  Collect(uint256 indexed tokenId, address recipient, uint256 amount0, uint256 amount1)
0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f
  Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,
      uint128 liquidity, int24 tick, uint24 fee)
0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec
  ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper,
      int256 liquidityDelta, bytes32 salt)
0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438
  Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee,
      int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)
0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140
  TokenExchange(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id,
      uint256 tokens_bought)
0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b
  Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn,
      uint256 amountOut)
0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31
  OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient,
      (uint8 itemType, address token, uint256 identifier, uint256 amount)[] offer, (uint8 itemType,
      address token, uint256 identifier, uint256 amount, address recipient)[] consideration)

# Permit2
0xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec
  Permit(address indexed owner, address indexed token, address indexed spender, uint160 amount,
      uint48 expiration, uint48 nonce)
0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b
  Approval(address indexed owner, address indexed token, address indexed spender, uint160 amount,
      uint48 expiration)

# Smart accounts
0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f
  UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster,
      uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)
0x1c4fada7374c0a9ee8841fc38afe82932dc0f8e69012e927f061a8bae611a201
  UserOperationRevertReason(bytes32 indexed userOpHash, address indexed sender, uint256 nonce,
      bytes revertReason)
0xd51a9c61267aa6196961883ecf5ff2da6619c37dac0fa92122513fb32c032d2d
  AccountDeployed(bytes32 indexed userOpHash, address indexed sender, address factory, address paymaster)
0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972
  BeforeExecution()
0x2da466a7b24304f47e87fa2e1e5a81b9831ce54fec19055ce277ca2f39ba42c4
  Deposited(address indexed account, uint256 totalDeposit)
0xd1c19fbcd4551a5edfb66d43d2e337c04837afda3482b42bdf569a8fccdae5fb
  Withdrawn(address indexed account, address withdrawAddress, uint256 amount)
0x141df868a6331af528e38c83b7aa03edc19be66e37ae67f9285bf4f8e3c6a1a8
  SafeSetup(address indexed initiator, address[] owners, uint256 threshold, address initializer,
      address fallbackHandler)
0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e
  ExecutionSuccess(bytes32 txHash, uint256 payment)
  ExecutionSuccess(bytes32 indexed txHash, uint256 payment)
0x23428b18acfb3ea64b08dc0c1d296ea9c09702c09083ca5272e64d115b687d23
  ExecutionFailure(bytes32 txHash, uint256 payment)
  ExecutionFailure(bytes32 indexed txHash, uint256 payment)
0x3d0ce9bfc3ed7d6862dbb28b2dea94561fe714a1b4d019aa8af39730d1ad7c3d
  SafeReceived(address indexed sender, uint256 value)
0x4f51faf6c4561ff95f067657e43439f0f856d97c04d9ec9070a6199ad418e235
  ProxyCreation(address indexed proxy, address singleton)
  ProxyCreation(address proxy, address singleton)
0x9465fa0c962cc76958e6373a993326400c1c94f8be2fe3a952adfa7f60b2ea26
  AddedOwner(address owner)
0xf8d49fc529812e9a7c5c50e69c20f0dccc0db8fa95c98bc58cc9a4f1c1299eaf
  RemovedOwner(address owner)
0x610f7ff2b304ae8903c3de74c60c6ab1f7d6226b3f52c5161905bb5ad4039c93
  ChangedThreshold(uint256 threshold)
0x6895c13664aa4f67288b25d7a21d7aaa34916e355fb9b6fae0a139a9085becb8
  ExecutionFromModuleSuccess(address indexed module)

# Owners, roles and proxies
0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0
  OwnershipTransferred(address indexed previousOwner, address indexed newOwner)
0x38d16b8cac22d99fc7c124b9cd0de2d3fa1faef420bfe791d8c362d765e22700
  OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner)
0x2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d
  RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)
0xf6391f5c32d9c69d2a47ea670b442974b53935d1edc7fd64eb21e047a839171b
  RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender)
0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b
  Upgraded(address indexed implementation)
0x7e644d79422f17c01e4894b5f4f588d331ebfa28653d42ae832dc59e38c9798f
  AdminChanged(address previousAdmin, address newAdmin)
0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e
  BeaconUpgraded(address indexed beacon)
0x7f26b83ff96e1f2b6a682f133852f6798a09c465da95921460cefb3847402498
  Initialized(uint8 version)
0xc7f505b2f371ae2175ee4913f4499e1f2633a7b5936321eed1cdaeb6115181d2
  Initialized(uint64 version)
0x62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a258
  Paused(address account)
0x5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa
  Unpaused(address account)

# Staking, claims and votes
0x9e71bc8eea02a63969f509818f2dafb9254532904319f9dbda79b67bd34a5f3d
  Staked(address indexed user, uint256 amount)
0x7084f5476618d8e60b11ef0d7d3f06914655adb8793e28ff7f018d4c76d505d5
  Withdrawn(address indexed user, uint256 amount)
0xe2403640ba68fed3a2f88b7557551d1993f84b99bb10ff833f0cf8db0c5e0486
  RewardPaid(address indexed user, uint256 reward)
0xde88a922e0d3b88b24e9623efeb464919c6bf9f66857a65e2bfcf2ce87a9433d
  RewardAdded(uint256 reward)
0x90890809c654f11d6e72a28fa60149770a0d11ec6c92319d6ceb2bb0a4ea1a15
  Deposit(address indexed user, uint256 indexed pid, uint256 amount)
0xf279e6a1f5e320cca91135676d9cb6e44ca8a08c0b88342bcdb1144f6511b568
  Withdraw(address indexed user, uint256 indexed pid, uint256 amount)
0x4ec90e965519d92681267467f775ada5bd214aa92c0dc93d90a5e880ce9ed026
  Claimed(uint256 index, address account, uint256 amount)
0x96a25c8ce0baabc1fdefd93e9ed25d8e092a3332f3aa9a41722b5697231d1d1a
  Submitted(address indexed sender, uint256 amount, address referral)
0x3134e8a2e6d97e929a7e54011ea5485d7d196dd5f0ba4d4ef95803e8e3fc257f
  DelegateChanged(address indexed delegator, address indexed fromDelegate, address indexed toDelegate)
0xdec2bacdd2f05b59de34da9b523dff8be42e5e38e818c82fdb0bae774387a724
  DelegateVotesChanged(address indexed delegate, uint256 previousVotes, uint256 newVotes)
0xb8e138887d0aa13bab447e82de9d5c1777041ecd21ca36ba824ff1e6c07ddda4
  VoteCast(address indexed voter, uint256 proposalId, uint8 support, uint256 weight, string reason)
0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5
  DepositEvent(bytes pubkey, bytes withdrawal_credentials, bytes amount, bytes signature, bytes index)

# Monad staking
0xe4d4df1e1827dd28252fd5c3cd7ebccd3da6e0aa31f74c828f3c8542af49d840
  Delegate(uint64 indexed validatorId, address indexed delegator, uint256 amount, uint64 activationEpoch)
0x3e53c8b91747e1b72a44894db10f2a45fa632b161fdcdd3a17bd6be5482bac62
  Undelegate(uint64 indexed validatorId, address indexed delegator, uint8 withdrawId, uint256 amount,
      uint64 activationEpoch)
0x63030e4238e1146c63f38f4ac81b2b23c8be28882e68b03f0887e50d0e9bb18f
  Withdraw(uint64 indexed validatorId, address indexed delegator, uint8 withdrawId, uint256 amount,
      uint64 activationEpoch)
0xcb607e6b63c89c95f6ae24ece9fe0e38a7971aa5ed956254f1df47490921727b
  ClaimRewards(uint64 indexed validatorId, address indexed delegator, uint256 amount, uint64 epoch)

# Bridges and oracles
0xb3813568d9991fc951961fcb4c784893574240a28925604d09fc577c55bb7c32
  TransactionDeposited(address indexed from, address indexed to, uint256 indexed version, bytes opaqueData)
0x02a52367d10742d8032712c1bb8e0144ff1ec5ffda1ed7d70bb05a2744955054
  MessagePassed(uint256 indexed nonce, address indexed sender, address indexed target, uint256 value,
      uint256 gasLimit, bytes data, bytes32 withdrawalHash)
0x85496b760a4b7f8d66384b9df21b381f5d1b1e79f229a47aaf4c232edc2fe59a
  OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256 amountSentLD,
      uint256 amountReceivedLD)
0xefed6d3500546b29533b128a29e3a94d70788727f0507505ac12eaf2e578fd9c
  OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD)
0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f
  AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt)
`;
