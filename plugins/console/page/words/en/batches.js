/** The words of batches of assets, in English. `../zh/batches.js` has them in Chinese. */
export const batches = {
  batches: {
    lead: 'A batch adds many files to a group, one after the other. It goes on by itself, also when you close this page.',
    create: 'New batch',
    empty: 'No batches yet',
    emptyHint: 'Paste the addresses of many files, or choose many files of this device.',
    title: (/** @type {number} */ count, /** @type {string} */ shown) =>
      count === 1 ? 'Batch of 1 asset' : `Batch of ${shown} assets`,
    states: { Running: 'Running', Ended: 'Ended', Cancelled: 'Cancelled' },
    group: 'Group',
    began: 'Began',
    ended: 'Ended',
    progress: (/** @type {string} */ done, /** @type {string} */ total) => `${done} of ${total} done`,
    left: (/** @type {string} */ time) => `About ${time} left`,
    openGroup: 'Open the group',
    missing: 'This batch is not there',
    missingHint: 'It ended more than 30 days ago, belongs to somebody else, or the address is wrong.',
    cancel: 'Cancel the batch',
    cancelWarning: (/** @type {number} */ count, /** @type {string} */ shown) =>
      `${count === 1 ? 'The asset that waits' : `The ${shown} assets that wait`} will not be added. What has been added stays.`,
    cancelled: 'Batch cancelled',
    items: 'Assets',
    outcome: 'Outcome',
    anyOutcome: 'Any outcome',
    outcomes: {
      Created: 'Added',
      Failed: 'Failed',
      Unknown: 'Unclear',
      Waiting: 'Waiting',
      Sending: 'Being added',
      Cancelled: 'Cancelled',
    },
    noneWith: 'None has this outcome',
    failures: {
      QuotaExceeded: 'One of your limits is reached. Add it again when the limit returns: see the page Account.',
      Expired: 'It waited for three days and was given up. Add it again.',
      OutcomeUnknown: 'The answer was lost. Several assets of the group have this name: one of them may be it.',
      InternalError: 'The upstream did not answer after several tries. Add it again later.',
      'NotFound.group_id': 'The group was deleted meanwhile.',
    },
    otherFailure: 'The file was not accepted.',
    add: 'Add many assets',
    addLead: 'Paste the addresses of the files, or choose files of this device.',
    addresses: 'Addresses, one in each line',
    addressesHint: (/** @type {string} */ max) =>
      `At most ${max}. A name may follow its address, after a space. Otherwise the name is that of the file.`,
    kind: 'Type',
    byAddress: 'By the address',
    noGroup: 'You have no group yet',
    noGroupHint: 'Create a group first. Its assets come from a batch.',
    count: (/** @type {number} */ count, /** @type {string} */ shown) =>
      count === 1 ? '1 asset will be added' : `${shown} assets will be added`,
    faults: {
      address: (/** @type {string} */ line) =>
        `Line ${line} does not begin with an address, such as https://files.example/a.png.`,
      name: (/** @type {string} */ line) => `Line ${line} has a name of more than 64 characters.`,
      twice: (/** @type {string} */ line) => `Line ${line} has the name of an earlier line.`,
    },
    moreFaults: (/** @type {number} */ count, /** @type {string} */ shown) =>
      count === 1 ? 'and 1 more line' : `and ${shown} more lines`,
    tooMany: (/** @type {string} */ max) => `A batch has at most ${max} assets. Split the list.`,
    nothing: 'Paste at least one address.',
    mend: 'Correct the lines first.',
    submit: 'Add them',
    device: 'Files of this device',
    deviceLead: 'They are uploaded first, then added to the group.',
  },
}
