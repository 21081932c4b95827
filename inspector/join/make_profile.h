// The join: ETDump x ETRecord -> Profile. See docs/formats/etdump.md for what events mean.
#pragma once

#include <string>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/delegate_profile.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

struct ProfileOptions {
  std::string method = "forward";  // which the trace is of; a trace does not say
  RunInfo run = {};
  // How the events of delegates are read; those of others are joined by the record's map alone.
  DelegateProfiles delegates = {};
};

// `record` may be null: rows then carry what the trace itself knows. Throws InspectorError if the
// trace holds no complete run. A record or a plan that does not fit the trace is not an error: rows
// stay unjoined, and Profile::notes says why.
Profile make_profile(const etdump::EtDump& trace, const etrecord::EtRecord* record,
                     const ProfileOptions& options = {});

}  // namespace vitrine::inspector
