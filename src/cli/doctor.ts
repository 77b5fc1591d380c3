// `npm run doctor`: checks the setup and says what a start would do. Prints one line for each requirement and, if it is not met, what to
// do about it.

import { exitOnSignals, failOnLostOutput, refuseArguments } from "../program-options.ts";
import { diagnose } from "./doctor/examine.ts";

refuseArguments(`Usage: npm run doctor
Checks the setup that the environment variables describe, and says what a start would do. Changes nothing and posts nothing.
Exit code 0: nothing is wrong. 1: something must be fixed. 2: the configuration is invalid.`);
exitOnSignals();
failOnLostOutput();

const { code, lines } = await diagnose(process.env);
for (const line of lines) console.log(line);
process.exitCode = code;
