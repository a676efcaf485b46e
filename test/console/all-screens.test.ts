import { describeWalk } from './all-screens.ts'
import { desktop } from './browser.ts'

describeWalk({ desktop })
