// SPDX-License-Identifier: Apache-2.0
// 128-bit arithmetic, an extension of both compilers we support.
#pragma once

namespace chopper {

__extension__ typedef unsigned __int128 uint128;

}  // namespace chopper
