import java.io.File;
import javax.xml.parsers.DocumentBuilderFactory;
import org.xml.sax.ErrorHandler;
import org.xml.sax.InputSource;
import org.xml.sax.SAXParseException;

/** Holds an XML file against a DTD, whatever the file itself names: DTD, then file. What is wrong ends the program. */
public class Validate {
    public static void main(String[] arguments) throws Exception {
        var factory = DocumentBuilderFactory.newInstance();
        factory.setValidating(true);
        var builder = factory.newDocumentBuilder();
        builder.setEntityResolver((name, place) -> new InputSource(new File(arguments[0]).toURI().toString()));
        builder.setErrorHandler(new ErrorHandler() {
            public void warning(SAXParseException wrong) throws SAXParseException {
                throw wrong;
            }

            public void error(SAXParseException wrong) throws SAXParseException {
                throw wrong;
            }

            public void fatalError(SAXParseException wrong) throws SAXParseException {
                throw wrong;
            }
        });
        builder.parse(new File(arguments[1]));
        System.out.println("valid");
    }
}
