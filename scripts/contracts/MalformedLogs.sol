// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Logs that carry the first topic of a transfer event and break its shape. None of them is a transfer.
contract MalformedLogs {
    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");
    bytes32 private constant SINGLE = keccak256("TransferSingle(address,address,address,uint256,uint256)");
    bytes32 private constant BATCH = keccak256("TransferBatch(address,address,address,uint256[],uint256[])");
    bytes32 private constant CONSECUTIVE = keccak256("ConsecutiveTransfer(uint256,uint256,address,address)");
    bytes32 private constant DEPOSIT = keccak256("Deposit(address,uint256)");
    uint256 private constant DIRT = 1 << 160;

    function emitAll(address from, address to) external {
        transfers(_word(from), _word(to));
        editions(_word(msg.sender), _word(from), _word(to));
        ranges(_word(from), _word(to));
    }

    /// Ten logs with the topic of Transfer.
    function transfers(bytes32 from, bytes32 to) public {
        bytes32 dirty = bytes32(uint256(to) | DIRT);
        _log1(TRANSFER, abi.encode(from, dirty, 1)); // nothing indexed, and not an address
        _log2(TRANSFER, from, abi.encode(to, 1)); // one address indexed
        _log3(TRANSFER, from, to, ""); // no amount
        _log3(TRANSFER, from, to, new bytes(31)); // amount cut short
        _log3(TRANSFER, from, to, abi.encode(1, 2)); // two amounts
        _log3(TRANSFER, from, dirty, abi.encode(1)); // not an address
        _log4(TRANSFER, from, to, bytes32(uint256(7)), abi.encode(7)); // an id and an amount
        _log4(TRANSFER, from, dirty, bytes32(uint256(7)), ""); // an id, not an address
        _log4(TRANSFER, dirty, to, bytes32(uint256(7)), "");
        _log1(TRANSFER, "");
    }

    /// Six logs with the topics of ERC-1155.
    function editions(bytes32 operator, bytes32 from, bytes32 to) public {
        _log4(SINGLE, operator, from, to, abi.encode(1)); // no amount
        _log3(SINGLE, from, to, abi.encode(1, 1)); // no operator
        _log4(BATCH, operator, from, to, abi.encode(new uint256[](2), new uint256[](1))); // unequal lengths
        _log4(BATCH, operator, from, to, abi.encode(64, type(uint256).max)); // offset beyond the data
        _log4(BATCH, operator, from, to, abi.encode(64, 96, type(uint128).max, 0)); // length beyond the data
        _log4(BATCH, operator, from, to, "");
    }

    /// Three logs with the topic of ERC-2309.
    function ranges(bytes32 from, bytes32 to) public {
        _log4(CONSECUTIVE, bytes32(0), from, to, abi.encode(type(uint256).max)); // a range no one could list
        _log4(CONSECUTIVE, bytes32(uint256(9)), from, to, abi.encode(3)); // ends before it starts
        _log4(CONSECUTIVE, bytes32(0), from, to, ""); // no end
    }

    /// One well-formed Deposit of a contract that wraps nothing: ignored unless it is configured as wrapped native.
    function fakeDeposit(address account, uint256 amount) external {
        _log2(DEPOSIT, _word(account), abi.encode(amount));
    }

    function _word(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    function _log1(bytes32 topic, bytes memory data) private {
        assembly ("memory-safe") {
            log1(add(data, 32), mload(data), topic)
        }
    }

    function _log2(bytes32 topic, bytes32 first, bytes memory data) private {
        assembly ("memory-safe") {
            log2(add(data, 32), mload(data), topic, first)
        }
    }

    function _log3(bytes32 topic, bytes32 first, bytes32 second, bytes memory data) private {
        assembly ("memory-safe") {
            log3(add(data, 32), mload(data), topic, first, second)
        }
    }

    function _log4(bytes32 topic, bytes32 first, bytes32 second, bytes32 third, bytes memory data) private {
        assembly ("memory-safe") {
            log4(add(data, 32), mload(data), topic, first, second, third)
        }
    }
}
