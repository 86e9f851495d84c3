// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Consecutive} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Consecutive.sol";

/// An ERC-721 collection minted whole at construction with one ERC-2309 ConsecutiveTransfer log: ids 0 to count - 1.
contract DemoBadges is ERC721Consecutive {
    constructor(address owner, uint96 count) ERC721("Demo Badge", "DBDG") {
        _mintConsecutive(owner, count);
    }
}
