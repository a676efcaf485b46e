/** Runs with `--all`: a browser repeats the walk of all-screens.test.ts on smaller screens. */
import { describeWalk } from './all-screens.ts'
import { phone } from './browser.ts'

describeWalk({ phone, 'a small phone': { width: 360, height: 640 } })
