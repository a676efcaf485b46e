/** The words of uploads, in English. `../zh/uploads.js` has them in Chinese. */
export const uploads = {
  uploads: {
    title: 'Uploads',
    choose: 'Upload files',
    dropHint: 'Drop pictures, videos and sound files anywhere on this page, or paste them.',
    drop: (/** @type {string} */ group) => `Drop the files to add them to ${group}`,
    notOffered: 'This server does not store files, so an asset is added by the address of its file.',
    progressOf: (/** @type {string} */ name) => `Progress of ${name}`,
    cancelOf: (/** @type {string} */ name) => `Cancel the upload of ${name}`,
    retryOf: (/** @type {string} */ name) => `Try again: ${name}`,
    dismiss: 'Dismiss',
    dismissOf: (/** @type {string} */ name) => `Dismiss ${name}`,
    sent: (/** @type {string} */ sent, /** @type {string} */ total) => `${sent} of ${total}`,
    states: {
      waiting: 'Waiting',
      sending: 'Uploading',
      creating: 'Adding it to the group',
      processing: 'Processing',
      failed: 'Failed',
    },
  },
}
