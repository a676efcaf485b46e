/** The words of face checks, in English. `../zh/face.js` has them in Chinese. */
export const face = {
  face: {
    title: 'Face check',
    lead: 'A person passes a face check on a phone. You can then add pictures and videos of that person to a group.',
    steps: [
      'Start the check here.',
      'Scan the code with the phone of the person.',
      'Follow all steps on the phone, including the last button.',
    ],
    start: 'Start face check',
    scan: 'Scan with the phone',
    scanHint:
      'Point the camera of the phone at the code and open the link. Finish all steps there. This page updates by itself.',
    fetchingResult: 'You can put the phone away. The result is being fetched.',
    openHere: 'Open on this device',
    qrCode: 'QR code of the link for the phone',
    tooLongForQrCode: 'The link is too long for a QR code. Open it on this device.',
    timeLeft: 'Time left',
    timeOver: 'The time is over.',
    pollFailed: 'The status could not be fetched. This page tries again by itself.',
    progress: 'Progress',
    states: {
      waiting_user: 'Waiting for the phone',
      callback_received: 'Finished on the phone',
      resolving: 'Fetching the result',
      verified: 'Verified',
      failed: 'The check did not succeed',
      expired: 'The check has expired',
    },
    group: 'Group',
    verifiedHint: 'There is now a group for this person. Add pictures and videos of the person to it.',
    addAssets: 'Add assets',
    startAnother: 'Check another person',
    failedHint: 'The face was not recognised as that of a real person. Good light and a plain background help.',
    expiredHint: 'The check was not finished in time. Start a new one; it has a new code.',
  },
}
