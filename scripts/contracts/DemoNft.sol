// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Burnable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Burnable.sol";

/// An ERC-721 collection that anyone may mint, the id being the minter's choice.
contract DemoNft is ERC721Burnable {
    constructor() ERC721("Demo Collectible", "DNFT") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }
}
