// Lowers the priority of this process. Tests that only compute then take the time that tests of real processes leave, and delay no answer
// that those wait for.

import { constants, setPriority } from "node:os";

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
