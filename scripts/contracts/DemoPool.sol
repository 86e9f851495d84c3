// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {DemoToken} from "./DemoToken.sol";

/// A pool of a token with 18 decimals against the native coin or another token. It holds both. Anyone may set its
/// price, so that the result of a trade can be checked by hand.
contract DemoPool {
    uint256 private constant WHOLE = 1e18;

    DemoToken public immutable token;
    /// The zero address for the native coin.
    IERC20 public immutable coin;
    /// Base units of the coin per whole token.
    uint256 public price;

    /// The pool starts with `supply` units of the token, and with the native value that the creation pays.
    constructor(DemoToken token_, IERC20 coin_, uint256 price_, uint256 supply) payable {
        token = token_;
        coin = coin_;
        price = price_;
        if (supply > 0) token_.mint(address(this), supply);
    }

    receive() external payable {}

    function setPrice(uint256 price_) external {
        price = price_;
    }

    /// Sells `units` to `to`. Native coins beyond their cost are paid back.
    function buy(uint256 units, address to) external payable {
        takeIn(units);
        token.transfer(to, units);
    }

    /// Sells `units` to each of the receivers, for coins of the caller.
    function buyForEach(uint256 units, address[] calldata receivers) external payable {
        takeIn(units * receivers.length);
        for (uint256 i = 0; i < receivers.length; i++) token.transfer(receivers[i], units);
    }

    /// Buys `units` of the caller, who has approved it.
    function sell(uint256 units) external {
        token.transferFrom(msg.sender, address(this), units);
        uint256 received = units * price / WHOLE;
        if (address(coin) == address(0)) pay(msg.sender, received);
        else coin.transfer(msg.sender, received);
    }

    function takeIn(uint256 units) private {
        uint256 cost = units * price / WHOLE;
        if (address(coin) != address(0)) coin.transferFrom(msg.sender, address(this), cost);
        else if (msg.value > cost) pay(msg.sender, msg.value - cost);
        else require(msg.value == cost, "too little");
    }

    function pay(address to, uint256 amount) private {
        (bool paid,) = to.call{value: amount}("");
        require(paid, "payment refused");
    }
}
