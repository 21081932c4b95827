// Joins an ETDump with an ETRecord into a Profile. docs/formats/etdump.md explains the events.
#pragma once

#include <string>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/delegate_profile.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

struct ProfileOptions {
  std::string method = "forward";  // the traced method; a trace does not contain its name
  RunInfo run = {};
  // Each DelegateProfile interprets the events of one backend. Events of any other backend are
  // joined only by the delegate map in the record.
  DelegateProfiles delegates = {};
  // The delegates in the program. Needed for traces that do not name backends, and for events that
  // name operators of a delegate's payload.
  ProgramDelegates program = {};
};

// Makes the profile of a trace. If `record` is null, rows have only the names in the trace. Throws
// InspectorError if the trace has no complete run. A record or an operator map that does not match
// the trace is not an error: rows stay unjoined, and Profile::notes gives the reason.
Profile make_profile(const etdump::EtDump& trace, const etrecord::EtRecord* record,
                     const ProfileOptions& options = {});

}  // namespace vitrine::inspector
