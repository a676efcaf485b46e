import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeAfterThisProcess } from './guard.ts'

/**
 * The temporary files of this process, of its browsers and of other processes that it starts are in one folder, which is removed when this process has
 * ended: what a test leaves that fails, or is interrupted, would else fill the disk.
 */
process.env.TMPDIR = mkdtempSync(join(tmpdir(), 'sluice-tests-'))
removeAfterThisProcess(process.env.TMPDIR)
// PostgreSQL runs as another user, and reads a file in it.
chmodSync(process.env.TMPDIR, 0o711)
