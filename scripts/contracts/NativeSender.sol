// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// A contract that can hold value, pass it on, refuse to exist, or destroy itself.
contract Vault {
    constructor(bool refuse) payable {
        require(!refuse, "refused");
    }

    receive() external payable {}

    function send(address payable to, uint256 amount) external {
        (bool sent,) = to.call{value: amount}("");
        require(sent, "payment refused");
    }

    function destroy(address payable beneficiary) external {
        selfdestruct(beneficiary);
    }
}

/// Moves native value below the root of a transaction in every way the EVM has, and in the ways that only look like it.
contract NativeSender {
    receive() external payable {}

    /// One CALL with value to each recipient: an internal transfer each.
    function fanOut(address payable[] calldata recipients, uint256[] calldata amounts) external payable {
        for (uint256 i = 0; i < recipients.length; i++) _pay(recipients[i], amounts[i]);
    }

    /// Pays through a second contract: an internal transfer to the new vault and one from the vault to the recipient.
    function relay(address payable recipient) external payable {
        Vault vault = new Vault{value: msg.value}(false);
        vault.send(recipient, msg.value);
    }

    /// The first payment stands inside a call that fails and is caught, so it moves nothing; the second is real.
    function payAndSwallow(address payable undone, address payable paid) external payable {
        uint256 half = msg.value / 2;
        try this.payThenFail(undone, half) {} catch {}
        _pay(paid, half);
    }

    /// Pays, then fails: alone it reverts the whole transaction.
    function payThenFail(address payable recipient, uint256 amount) external payable {
        _pay(recipient, amount);
        revert("failed after paying");
    }

    /// CREATE with value, then CREATE2 with value: an internal transfer each.
    function createBoth(bytes32 salt) external payable {
        new Vault{value: msg.value / 2}(false);
        new Vault{value: msg.value / 2, salt: salt}(false);
    }

    /// A CREATE with value whose constructor fails; caught, so nothing moves.
    function createRefused() external payable {
        try new Vault{value: msg.value}(true) {} catch {}
    }

    /// SELFDESTRUCT paying a beneficiary: an internal transfer to the vault and one from it.
    function destructTo(address payable beneficiary) external payable {
        new Vault{value: msg.value}(false).destroy(beneficiary);
    }

    /// SELFDESTRUCT naming itself: an internal transfer to the vault; the destruction moves nothing.
    function destructToSelf() external payable {
        Vault vault = new Vault{value: msg.value}(false);
        vault.destroy(payable(address(vault)));
    }

    /// DELEGATECALL carries the caller's value and CALLCODE names one; neither moves anything.
    function lookAlikes(address target) external payable {
        (bool delegated,) = target.delegatecall("");
        bool called;
        assembly ("memory-safe") {
            called := callcode(gas(), target, callvalue(), 0, 0, 0, 0)
        }
        require(delegated && called, "look-alike failed");
    }

    function _pay(address payable recipient, uint256 amount) private {
        (bool sent,) = recipient.call{value: amount}("");
        require(sent, "payment refused");
    }
}
