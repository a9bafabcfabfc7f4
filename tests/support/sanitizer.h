// SPDX-License-Identifier: Apache-2.0
// Which sanitizer the tests are compiled with, so that those that damage an input at every place can take fewer.
#pragma once

#include <cstddef>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

namespace chopper::test {

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// The distance of places (bytes, seeds) a test looks at. A build without sanitizers looks at all; what runs on one
/// thread tells the thread sanitizer nothing and takes ten times as long there. Primes, so that no column of a table
/// is always left out.
inline constexpr std::size_t kPlaceStride = kThreadSanitizer ? 37 : kAddressSanitizer ? 5 : 1;

}  // namespace chopper::test
