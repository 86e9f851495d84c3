// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {DemoPool} from "./DemoPool.sol";

/// Trades at pools of the native coin for its callers, and keeps nothing.
contract DemoRouter {
    receive() external payable {}

    /// Buys `units` at a pool, and pays the rest of the value back.
    function buy(DemoPool pool, uint256 units) external payable {
        pool.buy{value: msg.value}(units, msg.sender);
        payAll(msg.sender);
    }

    /// Sells `units`, which the caller has approved.
    function sell(DemoPool pool, uint256 units) external {
        takeIn(pool, units);
        payAll(msg.sender);
    }

    /// Sells `units` at one pool, and buys `bought` at another for what they cost. The rest is paid out.
    function swap(DemoPool from, uint256 units, DemoPool to, uint256 bought) external {
        takeIn(from, units);
        to.buy{value: address(this).balance}(bought, msg.sender);
        payAll(msg.sender);
    }

    function takeIn(DemoPool pool, uint256 units) private {
        pool.token().transferFrom(msg.sender, address(this), units);
        pool.token().approve(address(pool), units);
        pool.sell(units);
    }

    function payAll(address to) private {
        if (address(this).balance == 0) return;
        (bool paid,) = to.call{value: address(this).balance}("");
        require(paid, "payment refused");
    }
}
