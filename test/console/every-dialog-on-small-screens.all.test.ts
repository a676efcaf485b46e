/** Runs with `--all`: a browser opens every dialog, the login and an invitation, on narrow and zoomed screens. */
import { describeDialogs } from './every-dialog-suite.ts'
import { smallSizes } from './screen-faults.ts'

describeDialogs(smallSizes)
