/** Runs with `--all`: a browser opens every dialog, the login and an invitation, on a desktop. */
import { describeDialogs } from './every-dialog-suite.ts'
import { desktopSizes } from './screen-faults.ts'

describeDialogs(desktopSizes)
