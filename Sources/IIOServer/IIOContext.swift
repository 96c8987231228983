import PlainText

/// The devices of a server as libiio's XML.
enum IIOContext {
    static func id(_ index: Int) -> String { "iio:device\(index)" }

    /// The document with the declaration that libiio 0.24 writes.
    static func xml(_ devices: [IIODevice], description: String) -> String {
        var text = declaration
        text += "<context name=\"network\" version-major=\"0\" version-minor=\"24\" version-git=\"binnacl\" "
        text += "description=\"\(description.xml)\"><context-attribute name=\"uri\" value=\"ip:\" />"
        for (index, device) in devices.enumerated() where device.isPresent {
            text += "<device id=\"\(id(index))\" name=\"\(device.name.xml)\" label=\"\(device.owner.xml)\" >"
            for (place, channel) in device.channels.enumerated() {
                text += "<channel id=\"\(channel.id)\" type=\"input\" ><scan-element index=\"\(place)\" "
                text += "format=\"\(channel.format.xml)\" "
                text += channel.values.isEmpty ? "/>" : "scale=\"\(device.scale)\" />"
                if !channel.values.isEmpty {
                    text += "<attribute name=\"raw\" filename=\"in_\(channel.id)_raw\" />"
                    text += "<attribute name=\"scale\" filename=\"in_\(device.type)_scale\" />"
                }
                text += "</channel>"
            }
            for name in device.attributes { text += "<attribute name=\"\(name)\" />" }
            text += "</device>"
        }
        return text + "</context>"
    }

    private static let declaration = """
        <?xml version="1.0" encoding="utf-8"?><!DOCTYPE context [<!ELEMENT context (device | context-attribute)*>\
        <!ELEMENT context-attribute EMPTY><!ELEMENT device (channel | attribute | debug-attribute | buffer-attribute)*>\
        <!ELEMENT channel (scan-element?, attribute*)><!ELEMENT attribute EMPTY><!ELEMENT scan-element EMPTY>\
        <!ELEMENT debug-attribute EMPTY><!ELEMENT buffer-attribute EMPTY><!ATTLIST context name CDATA #REQUIRED \
        version-major CDATA #REQUIRED version-minor CDATA #REQUIRED version-git CDATA #REQUIRED description CDATA #IMPLIED>\
        <!ATTLIST context-attribute name CDATA #REQUIRED value CDATA #REQUIRED><!ATTLIST device id CDATA #REQUIRED \
        name CDATA #IMPLIED label CDATA #IMPLIED><!ATTLIST channel id CDATA #REQUIRED type (input|output) #REQUIRED \
        name CDATA #IMPLIED><!ATTLIST scan-element index CDATA #REQUIRED format CDATA #REQUIRED scale CDATA #IMPLIED>\
        <!ATTLIST attribute name CDATA #REQUIRED filename CDATA #IMPLIED value CDATA #IMPLIED><!ATTLIST debug-attribute \
        name CDATA #REQUIRED value CDATA #IMPLIED><!ATTLIST buffer-attribute name CDATA #REQUIRED value CDATA #IMPLIED>]>
        """
}
